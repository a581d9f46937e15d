"""Arguments and output that several verbs share."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import printable

if TYPE_CHECKING:
    from tfdarshan.session import Session

METAVARS = {
    "include": "PATTERN",
    "exclude": "PATTERN",
    "spool_dir": "DIR",
    "engine": "NAME",
    "darshan_library": "PATH",
    "darshan_files": "N",
    "as_if": "STORAGE",
    "tf_profiler_max_s": "S",
    "job": "NAME",
}

# Where sessions go, and are looked for, if nothing else is said.
DEFAULT_LOGDIR = "logs"


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add the session to read."""
    parser.add_argument(
        "path",
        metavar="LOGDIR",
        nargs="?",
        default=DEFAULT_LOGDIR,
        help="a logdir (its newest session is read), a session's folder, or LOGDIR:RUN for one below it "
        f"(default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument(
        "--skip-damaged",
        action="store_true",
        help="leave out processes whose data cannot be read, and say so",
    )


def session_of(arguments: argparse.Namespace) -> Session:
    """Open the session that the arguments name."""
    from tfdarshan.session import open_session

    return open_session(arguments.path, skip_damaged=arguments.skip_damaged)


def overlap_of(session: Session) -> dict[str, Any]:
    """Return what JSON says of the sessions that overlap the one that was chosen."""
    return {"overlapping_sessions": [str(path) for path in session.overlapping]}


def overlap_text(session: Session) -> str:
    """Return what text begins with where others overlap the session that was chosen, "" where none does."""
    from tfdarshan.sessions.overlap import overlap_lines

    lines = overlap_lines(session.overlapping)
    return "\n".join([*lines, "", ""]) if lines else ""


def check_least(option: str, number: int, least: int) -> None:
    """Check a number.

    Raises:
        ConfigurationError: It is less than `least`.
    """
    if number < least:
        raise ConfigurationError(f"{option} must be at least {least}, not {number}.")


def step_range(option: str, text: str) -> tuple[int, int]:
    """Return the first and the last step of "100-200"; of "100", that step as both.

    Raises:
        ConfigurationError: It is neither, or ends before it begins.
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    first, last = (-1, -1) if match is None else (int(match[1]), int(match[2] or match[1]))
    if not 0 <= first <= last:
        raise ConfigurationError(
            f"{option} takes one step such as 100, or the first and the last such as 100-200, not {text!r}: "
            "the first must not be larger than the last."
        )
    return first, last


def folder_of(option: str, name: str) -> str:
    """Return a folder's absolute path.

    Raises:
        ConfigurationError: It is none.
    """
    folder = Path(name).absolute()
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise ConfigurationError(f"{option} {name} {what}: name a folder on the disk to measure.")
    return str(folder)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add every session option, spelled with hyphens."""
    from tfdarshan.options import Options, typed_word

    group = parser.add_argument_group("session options")
    for option in dataclasses.fields(Options):
        flag, about = f"--{option.name.replace('_', '-')}", option.metadata["help"]
        typed = option.metadata["kind"].typed
        if typed:
            about += f" (default: {typed_word(typed, option.default)})"
            group.add_argument(flag, choices=tuple(typed), metavar="|".join(typed), help=about)
        elif isinstance(option.default, bool):
            about += f" (default: {'yes' if option.default else 'no'})"
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=about)
        elif option.default == ():
            group.add_argument(flag, action="append", metavar="PATTERN", help=f"{about} (may be repeated)")
        else:
            kind = int if "int" in str(option.type) else str
            if option.default is not None:
                about += f" (default: {option.default})"
            group.add_argument(flag, type=kind, metavar=METAVARS.get(option.name, "MIB"), help=about)


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the session options that were given."""
    from tfdarshan.options import Options

    given = ((option, getattr(arguments, option.name)) for option in dataclasses.fields(Options))
    return {
        option.name: typed[value] if (typed := option.metadata["kind"].typed) else value
        for option, value in given
        if value is not None
    }


def say(line: str, *, error: bool = False) -> None:
    """Print a line on stdout, or on stderr; names in it change nothing on a terminal."""
    stream = sys.stderr if error else sys.stdout
    if stream is not None:  # print() would take stdout, which is the job's under `run`
        print(printable(line), file=stream, flush=error)


def print_json(value: Any) -> None:
    """Print data as JSON; dataclasses and paths become objects and strings.

    Names are exact: a byte that is not UTF-8 is a lone surrogate, from which `os.fsencode()` makes it again.
    """
    json.dump(value, sys.stdout, indent=1, default=_plain)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item()  # a NumPy number
