"""What a session that is still recording has recorded so far."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.recording.spool import copy_spool
from tfdarshan.sessions.session_directory import boot_id, pid_namespace, process_start, read_marker

# A larger recording is not read while it grows.
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class SoFar:
    """Totals of the recording's own process, None where it is not read; `spool_bytes` is what it takes."""

    spool_bytes: int
    duration_s: float | None = None
    calls: int | None = None
    files: int | None = None
    io_s: float | None = None


def is_recording(directory: Path) -> bool:
    """Says whether the process that began the session still runs, as far as can be seen from here."""
    try:
        marker = read_marker(directory)
    except SessionDataError:
        return False
    here = marker.boot_id == boot_id() and marker.pid_namespace == pid_namespace()
    return here and process_start(marker.pid) == marker.process_start != 0


def recorded_so_far(directory: Path) -> SoFar:
    """Reads the totals from a copy of the spool: the recording itself may change while it is read.

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
        with tempfile.TemporaryDirectory(prefix="tfdarshan-live-") as folder:
            copy = Path(folder) / spool.name
            copy_spool(spool, copy)
            with SpoolReader(copy) as reader:
                info = reader.info()
    except OSError as error:
        raise SessionDataError(f"the spool {spool} cannot be read: {error.strerror}.") from error
    return SoFar(used, info.duration_ns / 1e9, info.events, info.files, info.io_ns / 1e9)
