"""Writes sessions whose process was killed, or could not write at the end, from their spools."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionActiveError, SessionDataError, StorageError, TfdarshanError, reason
from tfdarshan.recording.spool import HELD, RecoveringError, recovering, remove_spool, spools_of
from tfdarshan.sessions.job_liveness import is_running, is_seen_here
from tfdarshan.sessions.rank_folder import parts_of, rank_folders, whole_session
from tfdarshan.sessions.session_directory import (
    MARKER,
    META_SUFFIX,
    Marker,
    boot_id,
    checked_logdir,
    directory_of,
    discard_session_directory,
    host_name,
    no_logdir,
    read_marker,
    unwritable_logdir,
    walk_sessions,
    write_marker,
)


@dataclass(frozen=True)
class Recovered:
    """One session that is whole now; `recorded` counts its children with data.

    `by_another` says that another process has recovered it meanwhile, or is about to.
    """

    path: Path
    recorded: int
    unreadable: tuple[str, ...]
    by_another: bool = False


def interrupted_sessions(logdir: Path) -> list[Path]:
    """List the session directories below a logdir, or the given one, that were begun and not finished.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    if not logdir.is_dir():
        raise no_logdir(Path(logdir))
    if _is_begun(logdir):
        return [logdir]
    return [part for directory in _sessions_below(logdir) for part in parts_of(directory) if _is_begun(part)]


def _is_begun(part: Path) -> bool:
    # Path.exists() raises PermissionError in another user's folder before Python 3.14.
    return os.path.exists(part / MARKER)  # noqa: PTH110


def _sessions_below(logdir: Path) -> Iterator[Path]:
    """Yield the sessions of a logdir; a joint session itself, if it was named."""
    if rank_folders(logdir):
        yield logdir
    else:
        yield from walk_sessions(logdir)


def recover_session(
    directory: Path, *, to: Path | None = None, force: bool = False, succeeds: bool = False
) -> Recovered:
    """Write an interrupted session from its spools and remove them; of several who try at once, one does.

    Args:
        directory: The session directory that has the marker.
        to: Another logdir to write into, where the session's own has no room.
        force: Do not ask whether its processes still run.
        succeeds: This process began it as another program, and records it no more.

    Raises:
        SessionActiveError: A process still records, or that cannot be found out.
        SessionDataError: The spool is gone or damaged.
        StorageError: The session cannot be written.
    """
    try:
        return _recover_session(directory, to, os.getpid() if succeeds else None, force=force)
    except RecoveringError:
        return Recovered(directory, 0, (), by_another=True)
    except TfdarshanError:
        # Who is done with it removes the marker first.
        if (directory / MARKER).exists():
            raise
        return Recovered(directory, 0, (), by_another=True)


def _recover_session(directory: Path, to: Path | None, ended: int | None, *, force: bool) -> Recovered:
    marker = read_marker(directory)
    target = directory if to is None else checked_logdir(to)
    spool = Path(marker.spool_directory)
    if (directory / f"{marker.host}.{marker.pid}{META_SUFFIX}").exists():
        return _finish_written(directory, marker, spool)
    if not force:
        _check_ended(directory, marker, ended)
    _check_spool(directory, marker, spool)
    from tfdarshan.recording.writing.writer import write_session

    try:
        with recovering(spool / f"{marker.pid}.spool"):
            if not (directory / MARKER).exists():
                return Recovered(directory, 0, (), by_another=True)
            if to is not None:
                target = _own_directory(target, marker)
                marker = _named_as(target, marker)
            written = write_session(target, marker)
            _finish(directory, spool, target)
            (target / MARKER).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"the session {directory.name} cannot be written to {target}: {reason(error)}; "
            f"make room, or write it elsewhere with --to DIR. What was recorded is kept in {spool}."
        ) from error
    if not target.samefile(directory):
        _remove_partial(directory)
    return Recovered(target, written.recorded, written.unreadable)


def recover_spool(spool: Path, logdir: Path, *, force: bool = False) -> Recovered:
    """Write what a spool folder holds into a logdir, whatever became of the session's own, and remove it.

    Args:
        spool: The spool folder.
        logdir: The logdir, made where it is missing.
        force: Do not ask whether its processes still run.

    Raises:
        SessionActiveError: A process still records, or that cannot be found out.
        SessionDataError: The folder holds no recording, or a damaged one.
        StorageError: The session cannot be written.
    """
    if not (spool / MARKER).exists():
        raise SessionDataError(
            f"{spool} is not the spool folder of a session: give the one that the message named."
        )
    marker = dataclasses.replace(read_marker(spool), spool_directory=str(spool.absolute()))
    logdir = checked_logdir(logdir)
    if not force:
        _check_ended(directory_of(logdir, marker), marker)
    _check_spool(directory_of(logdir, marker), marker, spool)
    return recover_session(_own_directory(logdir, marker), force=True)


def _own_directory(logdir: Path, marker: Marker) -> Path:
    """Return the directory of a recording in a logdir; it is made beside others of the same name.

    Raises:
        StorageError: It cannot be made.
    """
    for again in itertools.count(1):
        name = marker.session if again == 1 else f"{marker.session}_{again}"
        directory = directory_of(logdir, dataclasses.replace(marker, session=name))
        if _is_of(directory, marker):
            break
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise unwritable_logdir(logdir, error) from error
        try:
            write_marker(directory, _named_as(directory, marker))
        except StorageError:
            discard_session_directory(directory)
            raise
        break
    return directory


def _named_as(directory: Path, marker: Marker) -> Marker:
    return dataclasses.replace(marker, session=whole_session(directory).name)


def _is_of(directory: Path, marker: Marker) -> bool:
    """Return whether a session directory is the one of a recording that is not written yet."""
    try:
        own = read_marker(directory)
    except SessionDataError:
        return False
    return Path(own.spool_directory).resolve() == Path(marker.spool_directory).resolve()


def _finish_written(directory: Path, marker: Marker, spool: Path) -> Recovered:
    """End what was written wholly: by who was killed before its end, or by who is about to end it.

    Raises:
        RecoveringError: By who is about to.
    """
    with ExitStack() as locked:
        with suppress(OSError):  # the spool is gone
            locked.enter_context(recovering(spool / f"{marker.pid}.spool"))
        return Recovered(directory, 0, (), by_another=not _finish(directory, spool, directory))


def _finish(directory: Path, spool: Path, written: Path) -> bool:
    """Remove the marker and the spool folder; False if another process has removed the marker.

    Of a session that is written elsewhere, to `written`, a logdir that is read-only keeps the marker.
    """
    # A marker may come from anybody: what it names is removed only if it is a spool folder.
    is_spool = os.path.exists(spool / MARKER)  # noqa: PTH110 - also of a name that is too long
    try:
        (directory / MARKER).unlink()
    except FileNotFoundError:
        return False
    except OSError:
        if written.samefile(directory):
            raise
    if is_spool:
        remove_spool(spool)
    return True


def _remove_partial(directory: Path) -> None:
    """Remove what an attempt left in the session directory that another one now stands for."""
    try:
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()
    except OSError:
        pass


def _check_spool(directory: Path, marker: Marker, spool: Path) -> None:
    if os.path.exists(spool / f"{marker.pid}.spool"):  # noqa: PTH110 - also of a name that is too long
        return
    if marker.host != host_name():
        why = f"it was recorded on {marker.host}: run `tfdarshan recover` there"
    elif marker.boot_id != boot_id():
        why = "the machine was restarted since, and its shared memory is lost: delete the session directory"
    else:
        why = "somebody removed it: delete the session directory"
    raise SessionDataError(f"the spool {spool} of the session {directory} is not here: {why}.")


def _check_ended(directory: Path, marker: Marker, ended: int | None = None) -> None:
    if is_seen_here(marker):
        recorders = sorted({*_recorders(marker)} - {ended})
        if not recorders:
            return
        names = ", ".join(map(str, recorders))
        raise SessionActiveError(
            f"the session {directory} is still recording (process {names}): stop it, or wait for it to end."
        )
    where = "in another container"
    if marker.boot_id != boot_id():
        if marker.host == host_name():  # It was restarted since.
            return
        where = f"on {marker.host}"
    raise SessionActiveError(
        f"the session {directory} is not recovered: it was recorded {where}, and whether its process still "
        "runs cannot be seen here; when it has ended, add --force."
    )


def _recorders(marker: Marker) -> Iterator[int]:
    """Yield the processes that still record, or are about to write what they recorded."""
    spool = Path(marker.spool_directory)
    if (spool / HELD).exists() and is_running(marker):
        yield marker.pid
    for pid, path in spools_of(spool):
        if path.stem != str(marker.pid) and _maps(pid, path):
            yield pid


def _maps(pid: int, path: Path) -> bool:
    """Return whether a process has a spool mapped: its id alone may be somebody else's by now."""
    mapped = os.fsencode(os.path.realpath(path))  # the kernel's name of it, without links
    try:
        return mapped in Path(f"/proc/{pid}/maps").read_bytes()
    except OSError:
        return False
