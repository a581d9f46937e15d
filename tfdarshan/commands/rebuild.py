"""`tfdarshan rebuild`: makes sessions of TensorFlow's traces that carry one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say
from tfdarshan.errors import TfdarshanError
from tfdarshan.file_name import shell_word

if TYPE_CHECKING:
    from tfdarshan.recording.tensorflow.rebuild import Rebuilt


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "rebuild",
        help="make sessions of TensorFlow's traces",
        description="Make sessions from the traces of TensorFlow's profiler in a logdir that have recorded "
        "I/O, such as captures that were started over the network.",
    )
    parser.add_argument(
        "logdir",
        metavar="LOGDIR",
        nargs="?",
        default=Path(DEFAULT_LOGDIR),
        type=Path,
        help=f"the logdir (default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument("--to", metavar="DIR", type=Path, help="write the sessions to this logdir instead")
    parser.add_argument("--force", action="store_true", help="also make sessions again that were made before")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Make all that can be made, and say of each what became of it."""
    from tfdarshan.recording.tensorflow.rebuild import find_traces, rebuild_session

    found = find_traces(arguments.logdir)
    traces = found.carrying if arguments.force else found.missing
    rebuilt: list[Rebuilt] = []
    failed = list(found.unreadable)
    for trace in traces:
        try:
            rebuilt.append(rebuild_session(trace, to=arguments.to))
        except TfdarshanError as error:
            failed.append(str(error))
    if arguments.json:
        print_json({"rebuilt": rebuilt, "failed": failed})
    else:
        for session in rebuilt:
            say(f"rebuilt {session.path}; see it with: tfdarshan summary {shell_word(session.path)}")
        if not traces and not failed:
            say(f"nothing to rebuild in {arguments.logdir}")
    for sentence in failed:
        say(f"tfdarshan: {sentence}", error=True)
    return 1 if failed else 0
