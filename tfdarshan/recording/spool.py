"""Chooses and makes the spool directory: where a session is recorded before it is written to the logdir."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.durable.user_folders import SHARED_MEMORY, temporary_folder
from tfdarshan.errors import SessionActiveError, StorageError, reason
from tfdarshan.options import MIN_MEMORY_CAP_MB, Options
from tfdarshan.recording.memory_cap_limit import MIB, SMALLEST_BYTES, free_bytes, tightest_bound

ENVIRONMENT_VARIABLE = "TFDARSHAN_SPOOL_DIR"
# In a spool directory as long as the process that recorded it means to write the session itself.
HELD = "held"
# In a spool directory whose session follows children: the list of those that it cannot record.
UNSEEN = "unseen"
# Its first line, which takes room for the others before the spools fill the folder.
UNSEEN_HEAD = "processes that are not recorded\n"
# How folders beside the spools are named in which a recording is read before it has ended.
SO_FAR_PREFIX = "tfdarshan-so-far-"
BLOCK_BYTES = MIB


@dataclass(frozen=True)
class Spool:
    """A session's spool directory and its bounds.

    `notes` says which bounds were lowered for want of room, one sentence each.
    """

    directory: Path
    capacity_bytes: int
    trace_limit_bytes: int
    notes: tuple[str, ...]


def make_spool(options: Options, session: str, ranks: int = 1) -> Spool:
    """Make `<folder>/tfdarshan-<uid>-<session>-<pid>-<random>/`, readable by this user only.

    Args:
        options: The session's.
        session: Its name.
        ranks: How many ranks of its job are on this host: each takes an equal part of the caps, and no less
            than the smallest recording needs.

    Raises:
        StorageError: No folder can be written or has room for the smallest recording.
    """
    parent = choose_folder(options)
    bound = tightest_bound(parent, f"spool_dir or {ENVIRONMENT_VARIABLE}")
    if bound.bytes < SMALLEST_BYTES:
        raise StorageError(f"{bound.why} and a session needs at least {MIN_MEMORY_CAP_MB}: {bound.fix}.")
    wanted_bytes = max(options.memory_cap_mb * MIB // max(ranks, 1), SMALLEST_BYTES)
    capacity_bytes = min(wanted_bytes, max(bound.bytes // max(ranks, 1), SMALLEST_BYTES))
    trace_bytes = options.trace_limit_mb * capacity_bytes // options.memory_cap_mb if options.trace else 0
    notes = []
    if capacity_bytes < wanted_bytes:
        trace_mb = options.trace_limit_mb * wanted_bytes // options.memory_cap_mb // MIB
        trace = f", trace_memory_mb from {trace_mb} to {trace_bytes // MIB}"
        trace = trace if options.trace else ""
        notes.append(
            f"memory_cap_mb lowered from {wanted_bytes // MIB} to {capacity_bytes // MIB}{trace}: {bound.why}"
        )
    return Spool(_make_directory(parent, session), capacity_bytes, trace_bytes, tuple(notes))


def choose_folder(options: Options) -> Path:
    """Return the option, else TFDARSHAN_SPOOL_DIR, else /dev/shm or TMPDIR, whichever has room."""
    named = options.spool_dir or os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named).absolute()
    folders = [folder for folder in _default_folders() if os.access(folder, os.W_OK)]
    if not folders:
        raise StorageError(
            "neither /dev/shm nor TMPDIR can be written: name a spool folder with spool_dir or "
            f"{ENVIRONMENT_VARIABLE}."
        )
    wanted_bytes = options.memory_cap_mb * MIB
    roomy = [folder for folder in folders if free_bytes(folder) >= wanted_bytes]
    return roomy[0] if roomy else max(folders, key=free_bytes)


def _default_folders() -> list[Path]:
    """Return /dev/shm and the folder for temporary files, which a read-only system may not have."""
    with suppress(StorageError):
        return [SHARED_MEMORY, temporary_folder()]
    return [SHARED_MEMORY]


class RecoveringError(SessionActiveError):
    """Another process is recovering the session."""


def remove_spool(directory: Path) -> None:
    """Remove a spool directory that is no longer needed; what cannot be removed is left."""
    shutil.rmtree(directory, ignore_errors=True)


def spools_of(directory: Path) -> Iterator[tuple[int, Path]]:
    """Yield the process number and the spool of each program that recorded into a spool directory.

    A program that the same process began by exec has a spool of its own, `PID.2.spool`.
    Source: open_new_file() of csrc/spool/spool_file.c.
    """
    for path in directory.glob("*.spool"):
        pid = path.name.partition(".")[0]
        if pid.isdecimal():
            yield int(pid), path


def release_spool(directory: Path) -> None:
    """Let `tfdarshan recover` write the session although the process that recorded it goes on.

    A process that has become another user's cannot: then it waits for its end.
    """
    with suppress(OSError):
        (directory / HELD).unlink()


def copy_spool(source: Path, target: Path) -> None:
    """Copy what a sparse file holds, leaving its holes."""
    with source.open("rb") as read, target.open("wb") as write:
        end = os.fstat(read.fileno()).st_size
        at = 0
        while at < end:
            try:
                at = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            hole = os.lseek(read.fileno(), at, os.SEEK_HOLE)
            while at < hole:
                block = os.pread(read.fileno(), min(BLOCK_BYTES, hole - at), at)
                if not block:
                    break
                os.pwrite(write.fileno(), block, at)
                at += len(block)
        write.truncate(end)


@contextmanager
def recovering(spool: Path) -> Iterator[None]:
    """Lock a spool file; the kernel takes the lock away with the process.

    A lock of POSIX's would end when whoever reads the spool meanwhile closes it.

    Raises:
        RecoveringError: Another process is recovering it.
        OSError: It cannot be opened.
    """
    with spool.open("r+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RecoveringError(
                f"another process is recovering the session recorded in {spool.parent}."
            ) from error
        yield


def _make_directory(parent: Path, session: str) -> Path:
    prefix = f"tfdarshan-{os.getuid()}-{session}-{os.getpid()}-"
    try:
        directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        (directory / HELD).touch()
        return directory
    except OSError as error:
        raise StorageError(
            f"no spool can be made in {parent}: {reason(error)}; name another folder with spool_dir or "
            f"{ENVIRONMENT_VARIABLE}."
        ) from error
