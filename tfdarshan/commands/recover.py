"""`tfdarshan recover`: writes sessions whose process was killed or could not write."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say
from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.file_name import shell_word

if TYPE_CHECKING:
    from tfdarshan.recording.recover import Recovered


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "recover",
        help="write sessions that were interrupted",
        description="Write the sessions that a killed process left in a logdir, or that one could not write "
        "at its end.",
    )
    parser.add_argument(
        "logdir",
        metavar="LOGDIR",
        nargs="?",
        default=Path(DEFAULT_LOGDIR),
        type=Path,
        help=f"the logdir, or one session directory in it (default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument("--to", metavar="DIR", type=Path, help="write the sessions to this logdir instead")
    parser.add_argument(
        "--spool",
        metavar="DIR",
        type=Path,
        help="write into LOGDIR what this spool folder holds, where a process records until its end, if its "
        "own logdir was removed",
    )
    parser.add_argument(
        "--force", action="store_true", help="do not check that the recording processes have ended"
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Recover all that can be, and say of each session what became of it."""
    recovered: list[Recovered] = []
    failed: list[str] = []
    for recover in _recoveries(arguments):
        try:
            recovered.append(recover())
        except TfdarshanError as error:
            failed.append(str(error))
    if arguments.json:
        print_json({"recovered": recovered, "failed": failed})
    else:
        _print(recovered, nothing=not recovered and not failed, logdir=arguments.logdir)
    for sentence in failed:
        say(f"tfdarshan: {sentence}", error=True)
    return 1 if failed else 0


def _recoveries(arguments: argparse.Namespace) -> list[Callable[[], Recovered]]:
    from tfdarshan.recording.recover import interrupted_sessions, recover_session, recover_spool

    logdir, to, force = arguments.logdir, arguments.to, arguments.force
    if arguments.spool is None:
        sessions = interrupted_sessions(logdir)
        return [partial(recover_session, directory, to=to, force=force) for directory in sessions]
    if to is not None:
        raise ConfigurationError(
            "--spool writes into LOGDIR: leave --to out, and give the logdir to write to as LOGDIR."
        )
    return [partial(recover_spool, arguments.spool, logdir, force=force)]


def _print(recovered: list[Recovered], *, nothing: bool, logdir: Path) -> None:
    from tfdarshan.sessions.rank_folder import whole_session

    for session in recovered:
        if session.by_another:
            say(f"another process recovers {session.path}, or has done so just now")
            continue
        whole = whole_session(session.path)
        say(f"recovered {session.path}; see it with: tfdarshan summary {shell_word(whole)}")
        for problem in session.unreadable:
            say(f"  {problem}")
    if nothing:
        say(f"nothing to recover in {logdir}")
