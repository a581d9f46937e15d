"""The `tfdarshan` command: one module per verb, listed in COMMANDS."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from tfdarshan.commands import (
    advise,
    burst,
    compare,
    doctor,
    export,
    files,
    findings,
    import_log,
    list_sessions,
    probe_data,
    rebuild,
    recover,
    report,
    run,
    stage,
    summary,
    whatif,
    workload,
)
from tfdarshan.commands.arguments import say
from tfdarshan.commands.exit_codes import BROKEN_PIPE, FAILURE, WRONG_USE
from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.file_name import printable
from tfdarshan.native.versions import VERSION

COMMANDS = (
    run,
    list_sessions,
    summary,
    findings,
    whatif,
    probe_data,
    report,
    files,
    compare,
    advise,
    stage,
    burst,
    export,
    import_log,
    rebuild,
    recover,
    workload,
    doctor,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a verb and gives the exit code: 0, 1 for a failure, 2 for wrong use."""
    parsed = make_parser().parse_args(arguments)
    try:
        outcome: int | Callable[[], int] = parsed.command(parsed)
        sys.stdout.flush()
    except ConfigurationError as error:
        return _complain(error, WRONG_USE)
    except TfdarshanError as error:
        return _complain(error, FAILURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    # A script runs outside of the above: its errors are its own.
    return outcome() if callable(outcome) else outcome


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with arguments without writing them to the terminal as they are."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def make_parser() -> argparse.ArgumentParser:
    """Makes the parser of all verbs."""
    parser = _Parser(prog="tfdarshan", description="See a job's file I/O, counted by Darshan's definitions.")
    parser.add_argument("--version", action="version", version=f"tfdarshan {VERSION}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for module in COMMANDS:
        module.add_parser(verbs)
    return parser


def _complain(error: TfdarshanError, code: int) -> int:
    say(f"tfdarshan: {error}", error=True)
    return code
