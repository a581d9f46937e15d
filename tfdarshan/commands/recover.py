"""`tfdarshan recover`: writes sessions whose process was killed or could not write."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import add_json, print_json
from tfdarshan.errors import TfdarshanError
from tfdarshan.recover import Recovered, interrupted_sessions, recover_session


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "recover",
        help="write sessions that were interrupted",
        description="Write the sessions of a logdir whose process was killed, or could not write at the end.",
    )
    parser.add_argument(
        "logdir", metavar="LOGDIR", type=Path, help="the logdir, or one session directory in it"
    )
    parser.add_argument("--to", metavar="DIR", type=Path, help="write them to this logdir instead")
    parser.add_argument(
        "--force", action="store_true", help="do not check that the recording processes have ended"
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Recovers all that can be, and says of each session what became of it."""
    directories = interrupted_sessions(arguments.logdir)
    recovered: list[Recovered] = []
    failed: list[str] = []
    for directory in directories:
        try:
            recovered.append(recover_session(directory, to=arguments.to, force=arguments.force))
        except TfdarshanError as error:
            failed.append(str(error))
    if arguments.json:
        print_json({"recovered": recovered, "failed": failed})
    else:
        _print(recovered, nothing=not directories, logdir=arguments.logdir)
    for sentence in failed:
        print(f"tfdarshan: {sentence}", file=sys.stderr)
    return 1 if failed else 0


def _print(recovered: list[Recovered], *, nothing: bool, logdir: Path) -> None:
    for session in recovered:
        print(f"recovered {session.path}; see it with: tfdarshan summary {session.path}")
        for problem in session.unreadable:
            print(f"  {problem}")
    if nothing:
        print(f"nothing to recover in {logdir}")
