"""`tfdarshan run`: profiles a script without touching its code."""

from __future__ import annotations

import argparse
import atexit
import dataclasses
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_options, options_of, say, step_range
from tfdarshan.errors import ConfigurationError, TfdarshanError, UnsupportedPlatformError, reason
from tfdarshan.file_name import shell_word
from tfdarshan.staging.original_looks import LOOK_AGAIN_S
from tfdarshan.units import plural

if TYPE_CHECKING:
    from tfdarshan.recording.profiler import Profile
    from tfdarshan.recording.redirect import StagedFiles
    from tfdarshan.recording.script import Program

# Set to 1: only sessions of TensorFlow's profiler that the script starts are recorded, not all of the run.
TENSORFLOW_ONLY = "TFDARSHAN"


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "run",
        help="profile a script",
        usage="tfdarshan run [options] [-m MODULE | -c CODE | SCRIPT | -] ARGS...",
        description="Run a Python program as `python` would, and record its file I/O. The program is a "
        "script (.py or .pyc), a folder or zip file with __main__.py, a module, code, or standard input. "
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
        "--steps",
        metavar="FIRST-LAST",
        help="record only these steps, such as 100-200, of a script that marks steps with "
        "`tfdarshan.steps()` or `tfdarshan.step()` (default: all of the run)",
    )
    parser.add_argument(
        "--json", action="store_true", help="at the end, print the session's path as JSON on stderr"
    )
    parser.add_argument(
        "--staged",
        type=Path,
        metavar="PLAN",
        help="open the copies that `tfdarshan stage apply PLAN` made when the script opens originals to read "
        "them; stat() calls go to the originals",
    )
    parser.add_argument(
        "--look-again",
        type=float,
        default=LOOK_AGAIN_S,
        metavar="SECONDS",
        help="with --staged, seconds after which an original is checked again for changes by other programs; "
        f"0 checks at each open, inf only once (default: {LOOK_AGAIN_S:g})",
    )
    add_options(parser)
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE ARGS", help="run a module"
    )
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE ARGS", help="run code")
    parser.add_argument(
        "script",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT ARGS",
        help="run a script, folder or zip file; - is standard input",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int | Callable[[], int]:
    """Start recording and return what runs the script; the session ends with the interpreter."""
    from tfdarshan.recording.profiler import start_shared
    from tfdarshan.recording.tensorflow.tf_profiler import enable

    try:
        program = _program(arguments)
    except SyntaxError as error:
        return _raiser(error)
    steps = None if arguments.steps is None else step_range("--steps", arguments.steps)
    if arguments.staged:
        _refuse_staged_parts(steps)
    if os.environ.get(TENSORFLOW_ONLY) == "1":
        if steps is not None:
            raise ConfigurationError(
                f"--steps records steps, but {TENSORFLOW_ONLY}=1 records only TensorFlow's profiles: unset "
                f"{TENSORFLOW_ONLY}."
            )
        enable(**options_of(arguments))
        atexit.register(_say_if_nothing_was_profiled, os.getpid())
        return _runner(program)
    ending = Ending(os.getpid(), arguments.json)
    # Exit functions run in reverse: the script's own first, then the session's end, then this.
    atexit.register(ending.run)
    if arguments.staged:
        from tfdarshan.recording.redirect import StagedFiles
        from tfdarshan.staging.plan_file import read_plan

        ending.staged = StagedFiles(read_plan(arguments.staged), arguments.look_again)
    try:
        ending.profile = start_shared(arguments.logdir, options_of(arguments), steps)
    except (OSError, RuntimeError, MemoryError, UnsupportedPlatformError) as error:
        if arguments.as_if:
            raise
        what = "without being recorded" if ending.staged is None else "unrecorded, and reads the originals"
        say(f"tfdarshan: the script runs {what}: {_sentence(error)}", error=True)
    if ending.profile is not None and ending.staged is not None:
        ending.staged.start()
        ending.staged.look_ahead()

    return _runner(program, ending)


def _refuse_staged_parts(steps: tuple[int, int] | None) -> None:
    """Refuse to lead a job to copies that is recorded in part: it would read originals all other time."""
    part = f"{TENSORFLOW_ONLY}=1 records" if os.environ.get(TENSORFLOW_ONLY) == "1" else ""
    if steps is not None:
        part = "--steps records"
    if part:
        raise ConfigurationError(
            f"--staged leads the job to copies while it is recorded, and {part} a part of the run: leave one "
            "of the two out."
        )


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, TfdarshanError) else f"{reason(error)}."


def _say_if_nothing_was_profiled(pid: int) -> None:
    """Say that TFDARSHAN=1 found nothing to record, and why."""
    from tfdarshan.native import _bridge
    from tfdarshan.recording.tensorflow.tf_plugin import tensorflow_imported

    if os.getpid() != pid or _bridge.last_tensorflow_session().session:
        return
    why = (
        "the script never started TensorFlow's profiler" if tensorflow_imported() else "it uses no TensorFlow"
    )
    said = f"tfdarshan: nothing was recorded, for {TENSORFLOW_ONLY}=1 asks for sessions of TensorFlow's "
    say(f"{said}profiler alone, and {why}. Without it all of the run is recorded.", error=True)


@dataclass
class Ending:
    """What happens after the session has ended, as the process's last act."""

    pid: int
    as_json: bool
    profile: Profile | None = None
    interrupted: bool = False
    staged: StagedFiles | None = None

    def run(self) -> None:
        """Say where the session is, and end by SIGINT where Python would have."""
        if self.profile is None or os.getpid() != self.pid:
            return
        from tfdarshan.native.interrupt import end_by_interrupt
        from tfdarshan.sessions.session_directory import is_complete

        if self.profile.unreached:
            say(f"tfdarshan: {self.profile.unreached}", error=True)
        elif self.profile.recorded and is_complete(self.profile.path):
            self._announce(self.profile.path)
        if self.interrupted:
            # Python notes that it has to end this way, and code run by exit functions makes it forget.
            end_by_interrupt()

    def _announce(self, path: Path) -> None:
        from tfdarshan.sessions.rank_folder import whole_session

        if self.as_json:
            more = {} if self.staged is None else {"staged": dataclasses.asdict(self.staged.totals)}
            say(json.dumps({"session": str(path), **more}), error=True)
        else:
            if self.staged is not None:
                _say_what_got_copies(self.staged)
            whole = whole_session(path)
            what = "the session" if whole == path else "this rank's part of the session"
            say(
                f"tfdarshan: {what} is in {path}; see it with: tfdarshan summary {shell_word(whole)}",
                error=True,
            )


def _say_what_got_copies(staged: StagedFiles) -> None:
    """Say how many opens were led to copies, and what could not be led there."""
    totals = staged.totals
    opens, missing = plural(totals.copies, "open"), plural(totals.missing, "copy", "copies")
    originals = f"{missing} missing, {totals.stale:,} stale"
    say(f"tfdarshan: {opens} got a staged copy; originals instead: {originals}", error=True)


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
    from tfdarshan.recording.script import load_module, load_script, load_string

    for words, load in (
        (arguments.module, load_module),
        (arguments.code, load_string),
        (arguments.script, load_script),
    ):
        given = words[1:] if words and words[0] == "--" else words
        if given:
            return load(given[0], given[1:])
    raise ConfigurationError(
        "run needs a script, or -m and a module: tfdarshan run [options] [-m] SCRIPT ARGS..."
    )


def _raiser(error: SyntaxError) -> Callable[[], int]:
    from tfdarshan.recording.script import hide_our_frames

    def fail() -> int:
        hide_our_frames(error.with_traceback(None))
        raise error

    return fail
