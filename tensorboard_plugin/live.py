"""What a session that is still recording has recorded so far."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import SessionDataError
from tfdarshan.recording.spool import copy_spool
from tfdarshan.sessions.job_liveness import is_recording
from tfdarshan.sessions.rank_folder import rank_folders
from tfdarshan.sessions.session_directory import read_marker

# A larger recording is not read while it grows.
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class SoFar:
    """Totals of the recording's own process, None where it is not read; `spool_bytes` is what it takes.

    Of a job's ranks, those that record on this host are added up, and only what they take.
    """

    spool_bytes: int
    duration_s: float | None = None
    calls: int | None = None
    files: int | None = None
    io_s: float | None = None


def recorded_so_far(directory: Path) -> SoFar:
    """Return what a session has recorded so far.

    Raises:
        SessionDataError: The marker or the spool cannot be read.
    """
    ranks = [folder for folder in rank_folders(directory) if is_recording(folder)]
    if not ranks:
        return _of_one(directory)
    return SoFar(sum(_of_one(rank).spool_bytes for rank in ranks))


def _of_one(directory: Path) -> SoFar:
    """Read the totals from a copy of the spool: the recording itself may change while it is read.

    Raises:
        SessionDataError: The marker or the spool cannot be read.
    """
    from tfdarshan.native.spool_reader import SpoolReader

    marker = read_marker(directory)
    spool = Path(marker.spool_directory) / f"{marker.pid}.spool"
    try:
        status = spool.stat()
        used = status.st_blocks * 512
        if status.st_uid != os.getuid() or used > MOST_BYTES:
            return SoFar(used)
        with tempfile.TemporaryDirectory(prefix="tfdarshan-live-", dir=temporary_folder()) as folder:
            copy = Path(folder) / spool.name
            copy_spool(spool, copy)
            with SpoolReader(copy) as reader:
                info = reader.info()
    except OSError as error:
        raise SessionDataError(f"the spool {spool} cannot be read: {error.strerror}.") from error
    return SoFar(used, info.duration_ns / 1e9, info.events, info.files, info.io_ns / 1e9)
