"""Finds the sessions of a logdir, and the one that a path given by a person means."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.sessions import background_writer
from tfdarshan.sessions.rank_folder import parts_of, rank_folders
from tfdarshan.sessions.session_directory import (
    MARKER,
    META_SUFFIX,
    STAMP_FORMAT,
    no_logdir,
    walk_sessions,
)
from tfdarshan.units import plural

STAMP_LENGTH = len("2024_01_31_23_59_59")


def find_sessions(logdir: str | os.PathLike[str]) -> list[Path]:
    """List the directories of the finished sessions of a logdir and of the runs below it, oldest first.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    background_writer.wait()
    folder = Path(logdir)
    if not folder.is_dir():
        raise no_logdir(folder)
    return sorted((path for path in walk_sessions(folder) if _has_data(path)), key=_age)


def locate_sessions(path: str | os.PathLike[str], count: int) -> list[Path]:
    """Return the newest `count` finished sessions of a logdir, oldest first; of a session directory itself.

    Raises:
        SessionDataError: There are fewer.
    """
    folder = named_run(Path(path))
    newest = locate_session(folder)
    if count == 1:
        return [newest]
    found = find_sessions(folder)[-count:] if newest != folder else [newest]
    if len(found) < count:
        there = plural(len(found), "finished session")
        raise SessionDataError(f"{folder} has {there}, not {count}: record more, or ask for fewer.")
    return found


def locate_session(path: Path) -> Path:
    """Return the session directory that `path` is, or the newest finished one below it.

    `LOGDIR:RUN` is the run of that name, a folder below the logdir, or the session of that name.

    Raises:
        SessionDataError: There is none.
    """
    background_writer.wait()
    path = named_run(path)
    if path.is_dir() and _has_data(path):
        return path
    if path.is_dir() and _is_begun(path):
        raise _unfinished(path, path)
    sessions = find_sessions(path)
    if sessions:
        return sessions[-1]
    unfinished = [directory for directory in walk_sessions(path) if _is_begun(directory)]
    if unfinished:
        raise _unfinished(unfinished[-1], path)
    raise SessionDataError(
        f"there is no session in {path}: record one with tfdarshan.profile({str(path)!r})."
    )


def named_run(path: Path) -> Path:
    """Resolve `LOGDIR:RUN`; return every other path as it is."""
    logdir, colon, run = str(path).rpartition(":")
    if path.exists() or not colon or not Path(logdir).is_dir():
        return path
    folder = Path(logdir) / run
    if folder.is_dir():
        return folder
    sessions = list(walk_sessions(Path(logdir)))
    named = [session for session in sessions if session.name == run]
    if named:
        return named[-1]
    runs = {str(session.parents[2].relative_to(logdir)) for session in sessions} - {"."}
    names = [*sorted(runs), *(session.name for session in sessions)]
    there = f"it has {', '.join(names[:10])}" if names else "it has no session"
    raise SessionDataError(f"the logdir {logdir} has no run or session {run!r}: {there}.")


def _unfinished(directory: Path, given: Path) -> SessionDataError:
    return SessionDataError(
        f"the session {directory} is still recording or was interrupted: "
        f"if its process has ended, run `tfdarshan recover {given}`."
    )


def _has_data(directory: Path) -> bool:
    return is_written(directory) or any(map(is_written, rank_folders(directory)))


def is_written(directory: Path) -> bool:
    """Return whether a session directory, or a rank's folder, has been finished."""
    return not (directory / MARKER).exists() and any(directory.glob(f"*{META_SUFFIX}"))


def _is_begun(directory: Path) -> bool:
    return any((part / MARKER).exists() for part in parts_of(directory))


def _age(directory: Path) -> tuple[str, int, str]:
    """Sort by the stamp in the name and the number added to it; `recover` writes old sessions late.

    A joint session is named by its job: the stamp is when its first rank began.
    """
    ranks = rank_folders(directory)
    if ranks:
        return _stamp_of(ranks), 0, str(directory)
    stamp, _, number = directory.name[STAMP_LENGTH:].rpartition("_")
    return (directory.name[:STAMP_LENGTH] + stamp, int(number) if number.isdecimal() else 0, str(directory))


def _stamp_of(ranks: list[Path]) -> str:
    """Return the stamp of the first of some ranks to begin, "" if none of them can be read."""
    from tfdarshan.sessions.overlap import recorded_in

    starts_ns = [found.start_ns for found in map(recorded_in, ranks) if found is not None]
    return time.strftime(STAMP_FORMAT, time.localtime(min(starts_ns) / 1e9)) if starts_ns else ""
