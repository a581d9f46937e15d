"""`tfdarshan run`: profiles a script without touching its code."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import add_options, options_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.profiler import Profile, start_shared
from tfdarshan.script import Program, hide_our_frames, load_module, load_script
from tfdarshan.session_directory import is_complete
from tfdarshan.tf_profiler import enable

DEFAULT_LOGDIR = "logs"
# Set to 1: only sessions of TensorFlow's profiler that the script starts are recorded, not all of the run.
TENSORFLOW_ONLY = "TFDARSHAN"


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "run",
        help="profile a script",
        usage="tfdarshan run [options] [-m] SCRIPT ARGS...",
        description="Run a Python script or module as `python` would, and record its file I/O. "
        "The exit code is the script's. With TFDARSHAN=1 in the environment only what TensorFlow's "
        "profiler profiles is recorded: the script's own sessions, and captures over the network.",
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
    if os.environ.get(TENSORFLOW_ONLY) == "1":
        enable(**options_of(arguments))
        return _runner(program)
    ending = Ending(os.getpid(), arguments.json)
    # Exit functions run in reverse: the script's own first, then the session's end, then this.
    atexit.register(ending.run)
    ending.profile = start_shared(arguments.logdir, options_of(arguments))

    return _runner(program, ending)


@dataclass
class Ending:
    """What happens after the session has ended, as the process's last act."""

    pid: int
    as_json: bool
    profile: Profile | None = None
    interrupted: bool = False

    def run(self) -> None:
        """Says where the session is, and ends by SIGINT where Python would have."""
        if self.profile is None or os.getpid() != self.pid:
            return
        if is_complete(self.profile.path):
            self._announce(self.profile.path)
        if self.interrupted:
            # Python notes that it has to end this way, and code run by exit functions makes it forget.
            sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(self.pid, signal.SIGINT)

    def _announce(self, path: Path) -> None:
        if self.as_json:
            print(json.dumps({"session": str(path)}), file=sys.stderr, flush=True)
        else:
            said = f"tfdarshan: the session is in {path}; see it with: tfdarshan summary {path}"
            print(said, file=sys.stderr, flush=True)


def _runner(program: Program, ending: Ending | None = None) -> Callable[[], int]:
    def run_program() -> int:
        try:
            program.run()
        except KeyboardInterrupt:
            if ending is not None:
                ending.interrupted = True
            raise
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
