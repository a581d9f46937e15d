"""Sessions and Darshan logs named on a command line: one, or several of which the worst comes first."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR
from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import ConfigurationError, SessionDataError
from tfdarshan.partials.serial import SERIAL, Lost, Progress, Runner, in_silence

if TYPE_CHECKING:
    from tfdarshan.session import Session

LOG_SUFFIX = ".darshan"


@dataclass(frozen=True)
class Ranked:
    """One line of several: figures of a session or log.

    Attributes:
        name: As it was given.
        duration_s: How long it lasted.
        processes: How many there were.
        io_s: Seconds in I/O of a process: of a log the times of files and ranks, divided by the processes.
        bytes_read: Bytes read through POSIX and STDIO.
        bytes_written: Bytes written.
        lost_s: Seconds that the fix is expected to give back; 0 if none is known.
        state: The verdict: "slow", "healthy" or "unknown".
        title: What was found, in a few words, "" if nothing.
    """

    name: str
    duration_s: float
    processes: int
    io_s: float
    bytes_read: int
    bytes_written: int
    lost_s: float
    state: str
    title: str


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Add the sessions to read."""
    parser.add_argument(
        "paths",
        metavar="LOGDIR",
        nargs="*",
        default=[DEFAULT_LOGDIR],
        help="a logdir (its newest session is read), a session's folder, LOGDIR:RUN for one below it, or "
        "a Darshan log (.darshan), or a URL that fsspec knows; of several, the worst comes first "
        f"(default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument(
        "--skip-damaged",
        action="store_true",
        help="leave out processes whose data cannot be read, and say so",
    )


def is_copy(path: str) -> bool:
    """Return whether what a path names is read from a temporary folder: a log, or what a URL names."""
    from tfdarshan.sessions.session_directory import REMOTE_URL

    return REMOTE_URL.match(path) is not None or is_log(path)


def is_log(path: str) -> bool:
    """Return whether a path names a Darshan log, and not a folder with sessions."""
    return Path(path).is_file() or (path.endswith(LOG_SUFFIX) and not Path(path).exists())


@contextmanager
def opened(path: str, *, skip_damaged: bool) -> Iterator[Session]:
    """Open a session; a Darshan log is imported, and what a URL names copied, to a folder removed again.

    Raises:
        ConfigurationError: PyDarshan, or what reads such a URL, is not installed.
        SessionDataError: There is no such session or log, or it is damaged.
    """
    from tfdarshan.session import open_session
    from tfdarshan.sessions.session_directory import REMOTE_URL

    if REMOTE_URL.match(path):
        from tfdarshan.sessions.remote_session import copied_session

        with copied_session(path) as copy:
            yield open_session(copy, skip_damaged=skip_damaged)
        return
    if not is_log(path):
        yield open_session(path, skip_damaged=skip_damaged)
        return
    from tfdarshan.formats.importing.darshan_log import import_darshan
    from tfdarshan.sessions.session_directory import LOG_FOLDER

    with tempfile.TemporaryDirectory(prefix=LOG_FOLDER, dir=temporary_folder()) as folder:
        yield open_session(import_darshan(path, folder).path)


def ranked(
    paths: Sequence[str], *, skip_damaged: bool, runner: Runner = SERIAL, progress: Progress = in_silence
) -> list[Ranked]:
    """Read sessions and logs: those that lose most come first.

    A fix's seconds come before seconds in I/O, for a log does not say what its job waited for.

    Raises:
        SessionDataError: One is damaged or missing, or ends each process that reads it.
    """
    rows, names = {}, distinct(paths)
    for read in runner.each(partial(_read, skip_damaged=skip_damaged), names):
        if isinstance(read, Lost):
            raise SessionDataError(f"{read.task} cannot be read: each process that read it ended.")
        rows[read.task] = read.result
        progress(len(rows), len(names))
    return sorted((rows[name] for name in names), key=lambda row: (-row.lost_s, -row.io_s))


def _read(path: str, *, skip_damaged: bool) -> Ranked:
    with opened(path, skip_damaged=skip_damaged) as session:
        return _ranked(path, session)


def distinct(paths: Sequence[str]) -> list[str]:
    """Return the paths without those that were given before."""
    return list(dict.fromkeys(paths))


def check_all_logs(paths: Sequence[str]) -> None:
    """Check that paths are all logs.

    Raises:
        ConfigurationError: One is a folder.
    """
    folder = next((path for path in paths if not is_log(path)), None)
    if folder is not None:
        raise ConfigurationError(
            f"{folder} is not a Darshan log: list takes one logdir, or only Darshan logs; "
            "`tfdarshan summary` takes both together."
        )


def plain(rows: Sequence[Ranked]) -> list[dict[str, Any]]:
    """Return the lines as JSON has them."""
    return [dict(vars(row)) for row in rows]


def _ranked(path: str, session: Session) -> Ranked:
    from tfdarshan.findings.diagnosis import summary_and_diagnosis
    from tfdarshan.findings.kept_verdicts import kept_verdict

    data, diagnosis = summary_and_diagnosis(session, 0)
    verdict = kept_verdict(diagnosis)
    io_s, times = data.wall_clock.io_s, data.file_time
    if io_s is None:
        io_s = (times.read_s + times.write_s + times.meta_s) / max(data.processes, 1)
    return Ranked(
        name=path,
        duration_s=data.duration_s,
        processes=data.processes,
        io_s=io_s,
        bytes_read=data.bytes_read,
        bytes_written=data.bytes_written,
        lost_s=verdict.lost_s,
        state=verdict.state,
        title=verdict.title,
    )
