"""Earlier sessions of the same job: in the same folder, of the same command."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tfdarshan.errors import TfdarshanError
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.measures import Measures
from tfdarshan.sessions.session_directory import META_SUFFIX
from tfdarshan.thresholds import THRESHOLD

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData


def earlier_sessions(measures: Measures) -> list[Measures]:
    """Measures those that came before this one, the oldest first; none of several ranks, or of a log."""
    session = measures.session
    if measures.imported or measures.ranks is not None or session.joint is not None:
        return []
    found: list[Measures] = []
    for folder in _older(session.path):
        if len(found) == THRESHOLD["earlier sessions"]:
            break
        with suppress(TfdarshanError, OSError):
            other = type(session).open(folder)
            if _is_of_the_job(other, measures):
                found.append(measure(other))
    return found[::-1]


def _older(path: Path) -> list[Path]:
    """Gives the folders of sessions that were begun before one, the newest first: their names are times."""
    with suppress(OSError):
        names = [folder for folder in path.parent.iterdir() if folder.name < path.name]
        return sorted((one for one in names if any(one.glob(f"*{META_SUFFIX}"))), reverse=True)
    return []


def _is_of_the_job(session: SessionData, measures: Measures) -> bool:
    owner, command = session.meta[0], measures.summary.command
    calls = sum(int(meta["counts"]["segments"]) for meta in session.meta)
    # A summary is not to wait for those of other sessions.
    few = calls <= THRESHOLD["earlier calls"]
    return bool(command) and owner.get("command") == command and session.joint is None and few
