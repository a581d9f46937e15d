"""`tfdarshan run`: profiles a script without touching its code."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
from collections.abc import Callable
from typing import Any

from tfdarshan.commands.arguments import add_options, options_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.profiler import Profile, start_shared
from tfdarshan.script import Program, hide_our_frames, load_module, load_script
from tfdarshan.session_directory import is_complete

DEFAULT_LOGDIR = "logs"


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "run",
        help="profile a script",
        usage="tfdarshan run [options] [-m] SCRIPT ARGS...",
        description="Run a Python script or module as `python` would, and record its file I/O. "
        "The exit code is the script's.",
    )
    parser.add_argument(
        "--logdir",
        default=DEFAULT_LOGDIR,
        metavar="DIR",
        help=f"where the session goes (default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument(
        "--json", action="store_true", help="at the end, say where the session is as JSON on stderr"
    )
    add_options(parser)
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE ARGS", help="run a module"
    )
    parser.add_argument("script", nargs=argparse.REMAINDER, metavar="SCRIPT ARGS", help="run a script")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int | Callable[[], int]:
    """Starts recording and gives what runs the script; the session ends with the interpreter."""
    try:
        program = _program(arguments)
    except SyntaxError as error:
        return _raiser(error)
    # Exit functions run in reverse: the script's own first, then the session's end, then this.
    profile: list[Profile] = []
    pid = os.getpid()
    atexit.register(lambda: _announce(profile, pid, as_json=arguments.json))
    profile.append(start_shared(arguments.logdir, options_of(arguments)))

    def run_program() -> int:
        program.run()
        return 0

    return run_program


def _program(arguments: argparse.Namespace) -> Program:
    words = arguments.module if arguments.module is not None else arguments.script
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        raise ConfigurationError(
            "run needs a script, or -m and a module: tfdarshan run [options] [-m] SCRIPT ARGS..."
        )
    name, *rest = words
    return load_module(name, rest) if arguments.module is not None else load_script(name, rest)


def _raiser(error: SyntaxError) -> Callable[[], int]:
    def fail() -> int:
        hide_our_frames(error.with_traceback(None))
        raise error

    return fail


def _announce(profiles: list[Profile], pid: int, *, as_json: bool) -> None:
    if not profiles or os.getpid() != pid or not is_complete(profiles[0].path):
        return
    path = profiles[0].path
    if as_json:
        import json

        print(json.dumps({"session": str(path)}), file=sys.stderr)
    else:
        print(f"tfdarshan: the session is in {path}; see it with: tfdarshan summary {path}", file=sys.stderr)
