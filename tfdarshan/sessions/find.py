"""Finds the sessions of a logdir, and the one that a path given by a person means."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import shell_word
from tfdarshan.sessions import background_writer
from tfdarshan.sessions.rank_folder import parts_of, rank_folders
from tfdarshan.sessions.session_directory import (
    MARKER,
    META_SUFFIX,
    STAMP_FORMAT,
    no_logdir,
    read_marker,
    walk_sessions,
)
from tfdarshan.units import plural

STAMP_LENGTH = len("2024_01_31_23_59_59")
Began = tuple[int, str, int, str]


def find_sessions(logdir: str | os.PathLike[str]) -> list[Path]:
    """List the directories of the finished sessions of a logdir and of the runs below it, oldest first.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    background_writer.wait()
    folder = Path(logdir)
    if not folder.is_dir():
        raise no_logdir(folder)
    return sorted((path for path in walk_sessions(folder) if _has_data(path)), key=began)


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
        raise _unfinished(max(unfinished, key=began), path)
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
        return max(named, key=began)
    runs = {str(session.parents[2].relative_to(logdir)) for session in sessions} - {"."}
    names = [*sorted(runs), *(session.name for session in sessions)]
    there = f"it has {', '.join(names[:10])}" if names else "it has no session"
    raise SessionDataError(f"the logdir {logdir} has no run or session {run!r}: {there}.")


def _unfinished(directory: Path, given: Path) -> SessionDataError:
    return SessionDataError(
        f"the session {directory} is still recording or was interrupted: "
        f"if its process has ended, run `tfdarshan recover {shell_word(given)}`."
    )


def _has_data(directory: Path) -> bool:
    return is_written(directory) or any(map(is_written, rank_folders(directory)))


def is_written(directory: Path) -> bool:
    """Return whether a session directory, or a rank's folder, has been finished."""
    return not _has_marker(directory) and any(directory.glob(f"*{META_SUFFIX}"))


def _is_begun(directory: Path) -> bool:
    return any(map(_has_marker, parts_of(directory)))


def _has_marker(part: Path) -> bool:
    # Path.exists() raises PermissionError in another user's folder before Python 3.14.
    return os.path.exists(part / MARKER)  # noqa: PTH110


def began(directory: Path) -> Began:
    """Return what sorts sessions by when they began: ns since the epoch, then the name and the path.

    The metadata of a session says when, of a joint one that of the first rank, or the marker of a session
    that is not written. The stamp in a name counts only if neither can be read: it is a local time, so it
    goes back when a clock does.
    """
    began_ns = _recorded_ns(directory) or _stamped_ns(directory.name)
    rest, _, number = directory.name[STAMP_LENGTH:].rpartition("_")
    name = directory.name[:STAMP_LENGTH] + rest
    return began_ns, name, int(number) if number.isdecimal() else 0, str(directory)


def _recorded_ns(directory: Path) -> int:
    """Return when the first part of a session began, in ns since the epoch; 0 if nobody says."""
    from tfdarshan.sessions.overlap import recorded_in

    starts_ns = []
    for part in parts_of(directory):
        found = recorded_in(part)
        if found is not None:
            starts_ns.append(found.start_ns)
        elif _has_marker(part):
            with suppress(SessionDataError):
                starts_ns.append(read_marker(part).start_realtime_ns)
    return min(starts_ns, default=0)


def _stamped_ns(name: str) -> int:
    """Return the stamp in a session's name in ns since the epoch, 0 if it has none."""
    try:
        return round(time.mktime(time.strptime(name[:STAMP_LENGTH], STAMP_FORMAT)) * 1e9)
    except (ValueError, OverflowError):
        return 0
