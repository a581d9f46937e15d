"""`tfdarshan list`: the sessions of a logdir, those that lose most time first."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say
from tfdarshan.commands.several import check_all_logs, is_log, plain, ranked
from tfdarshan.file_name import shell_word
from tfdarshan.units import started_at

if TYPE_CHECKING:
    from tfdarshan.findings.kept_verdicts import KeptVerdict, KeptVerdicts
    from tfdarshan.sessions.catalogue import ListedSession

# Without --all, sessions that were never looked at are, for so long; larger ones take too long for it. Where
# there are more sessions, what is known is said at once.
LOOK_S, MOST_SEGMENTS, MOST_SESSIONS = 3.0, 200_000, 50


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "list",
        help="list the sessions of a logdir, the worst first",
        description="List the sessions of a logdir and of the runs below it: how long each lasted, what "
        "share of its steps waits for input, the speedup of its first fix, and why it is slow. Those that "
        "lose most seconds come first, sessions that overlap in time together. Verdicts are kept in the "
        "user's cache folder. Of Darshan logs, a line each, the worst first.",
    )
    parser.add_argument(
        "paths",
        metavar="LOGDIR",
        nargs="*",
        default=[DEFAULT_LOGDIR],
        help="the folder passed to profile() or tfdarshan run, or Darshan logs (.darshan) "
        f"(default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="judge every session, however long that takes (default: judge new sessions for at most "
        f"{LOOK_S:.0f} s, and none if there are more than {MOST_SESSIONS})",
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the list."""
    if len(arguments.paths) > 1 or is_log(arguments.paths[0]):
        return _list_logs(arguments)
    return _list(arguments.paths[0], arguments)


def _list_logs(arguments: argparse.Namespace) -> int:
    from tfdarshan.reports.text.ranked_text import ranked_text
    from tfdarshan.terminal.paint import paint_for

    check_all_logs(arguments.paths)
    rows = ranked(arguments.paths, skip_damaged=False)
    if arguments.json:
        print_json({"sessions": plain(rows)})
    else:
        sys.stdout.write(ranked_text(rows, paint_for(sys.stdout)))
    return 0


def _list(given: str, arguments: argparse.Namespace) -> int:
    from tfdarshan.findings.kept_verdicts import KeptVerdicts
    from tfdarshan.reports.text.list_text import list_text
    from tfdarshan.sessions.catalogue import groups_in_time, list_sessions
    from tfdarshan.terminal.paint import paint_for

    logdir = Path(given)
    refused: list[Path] = []
    sessions = list_sessions(logdir, refused)
    for link in refused:
        say(
            f"tfdarshan: {link} leads out of its run and is not followed: list it by its own name.",
            error=True,
        )
    kept = KeptVerdicts(logdir)
    verdicts = {session.path: found for session in sessions if (found := kept.get(session)) is not None}
    wait_s = math.inf if arguments.all else LOOK_S if len(sessions) <= MOST_SESSIONS else 0.0
    left = _look_at([one for one in sessions if one.path not in verdicts], kept, verdicts, wait_s)
    groups = sorted(groups_in_time(sessions), key=lambda group: _rank(group, verdicts))
    if arguments.json:
        print_json({"logdir": str(logdir), "sessions": _plain(groups, verdicts), "not_looked_at": left})
        return 0
    sys.stdout.write(list_text(groups, verdicts, given, paint_for(sys.stdout)))
    if left:
        print(f"\n{left:,} not looked at yet: `tfdarshan list --all {shell_word(given)}` does")
    return 0


def _look_at(
    sessions: Sequence[ListedSession],
    kept: KeptVerdicts,
    verdicts: dict[Path, KeptVerdict],
    wait_s: float,
) -> int:
    """Work out verdicts that are missing for so long, the newest first; return how many are left."""
    from tfdarshan.sessions.catalogue import COMPLETE

    until_s = time.monotonic() + wait_s
    complete = [session for session in sessions if session.state == COMPLETE]
    left = 0
    for session in sorted(complete, key=lambda one: -one.start_ns):
        if time.monotonic() >= until_s or (wait_s < math.inf and session.segments > MOST_SEGMENTS):
            left += 1
            continue
        verdicts[session.path] = _verdict_on(session, kept)
    kept.save()
    return left


def _verdict_on(session: ListedSession, kept: KeptVerdicts) -> KeptVerdict:
    """Work out and keep the verdict on what can be read of a session; that nothing can is said."""
    from tfdarshan.errors import SessionDataError

    try:
        verdict = _verdict(session.path)
    except SessionDataError:
        try:
            verdict = _verdict(session.path, in_part=True)
        except SessionDataError as error:
            return kept.put_unreadable(session, error)
    kept.put(session, verdict)
    return verdict


def _verdict(path: Path, *, in_part: bool = False) -> KeptVerdict:
    from tfdarshan.findings.diagnosis import diagnose
    from tfdarshan.findings.kept_verdicts import kept_verdict
    from tfdarshan.session import open_session

    session = open_session(path, skip_damaged=in_part)
    return kept_verdict(diagnose(session), in_part=session.left_out)


def _rank(group: Sequence[ListedSession], verdicts: dict[Path, KeptVerdict]) -> tuple[float, int]:
    """Sort by the seconds lost by all of a group, then the newest first."""
    lost_s = sum(verdicts[one.path].lost_s for one in group if one.path in verdicts)
    return -lost_s, -max(one.start_ns for one in group)


def _plain(
    groups: Sequence[Sequence[ListedSession]], verdicts: dict[Path, KeptVerdict]
) -> list[dict[str, Any]]:
    return [
        dataclasses.asdict(session)
        | {
            "started": started_at(session.start_ns),
            "overlaps": len(group) - 1,
            "verdict": None if session.path not in verdicts else dataclasses.asdict(verdicts[session.path]),
        }
        for group in groups
        for session in group
    ]
