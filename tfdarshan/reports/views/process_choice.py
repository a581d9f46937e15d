"""Which processes of a session a view is of, and what it calls them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tfdarshan.analysis.ranks.process_list import KINDS, NamedProcess
from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import printable
from tfdarshan.reports.views.redaction import role_label
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.process_role import HELPER, MAIN, process_names, session_roles
from tfdarshan.sessions.session_data import SessionData

# What stands before a role, or a rank's number, that is chosen in place of a process.
ROLE, RANK = "role:", "rank:"
IDLE_HELPERS = "helpers that read no data"
NO_RANK = "no rank"


def chosen_processes(session: SessionData, wanted: str | None) -> list[int]:
    """Return the places of some processes of a session.

    Args:
        session: The session.
        wanted: A process's name, `role:` and a role, `rank:` and a rank's number, or None for all processes.

    Raises:
        SessionDataError: There is none of that name, role or rank.
    """
    if wanted is None:
        return list(range(len(session.processes)))
    if wanted.startswith(ROLE):
        found = [f"{ROLE}{role.kind}" for role in session_roles(session.meta)]
    elif wanted.startswith(RANK):
        found = ["" if process.rank is None else f"{RANK}{process.rank}" for process in session.processes]
    else:
        found = process_names(session.meta)
    places = [place for place, name in enumerate(found) if name == wanted]
    if not places:
        raise SessionDataError(f"the session {session.path.name} has no process {wanted}.")
    return places


def process_choices(processes: Sequence[ProcessData], named: Sequence[NamedProcess]) -> list[dict[str, str]]:
    """List what can be chosen: roles that several processes have, ranks, and each process that lists show.

    A rank's only process is the rank.

    Returns:
        `id`, as `chosen_processes` takes it, and `label`, the words for it.
    """
    return [{"id": id_, "label": printable(label)} for id_, label in _choices(processes, named)]


def _choices(processes: Sequence[ProcessData], named: Sequence[NamedProcess]) -> list[tuple[str, str]]:
    if any(process.meta.get("darshan") for process in processes):
        return [(one.name, one.name) for one in named]
    count = Counter(one.role.kind for one in named)
    ranks = Counter(one.rank for one in named if one.rank is not None and not one.hidden)
    hosts = {one.rank: one.name.rpartition(":")[0] for one in named if one.rank is not None}
    alone = (one for one in named if not one.hidden and (one.rank is None or ranks[one.rank] > 1))
    roles = [kind for kind in KINDS if count[kind] > 1 or (kind == HELPER and count[kind])]
    return [
        *((f"{ROLE}{kind}", f"all {KINDS[kind]} ({count[kind]:,})") for kind in roles),
        *((f"{RANK}{rank}", f"rank {rank} ({hosts[rank]})") for rank in sorted(ranks)),
        *((one.name, _label(one)) for one in sorted(alone, key=lambda one: one.order)),
    ]


def shown_labels(named: Sequence[NamedProcess], *, redacted: bool) -> list[str]:
    """Return what rows of processes are called; of a report to be shown, without names of scripts."""
    if not redacted:
        return [one.label for one in named]
    return [
        role_label(one.role.kind, one.role.number, one.name.rpartition(":")[2], one.rank) for one in named
    ]


def role_words(kind: str) -> str:
    """Return what the processes of a role are called together."""
    return MAIN if kind == MAIN else KINDS[kind]


def rank_words(one: NamedProcess, *, redacted: bool) -> str:
    """Return what the processes of a rank are called together."""
    if one.rank is None:
        return NO_RANK
    return f"rank {one.rank}" if redacted else f"rank {one.rank} ({one.name.rpartition(':')[0]})"


def _label(one: NamedProcess) -> str:
    return one.label if one.label.endswith(")") else f"{one.label} ({one.name})"
