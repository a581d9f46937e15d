"""What a session that is still recording has recorded so far, as a session that can be read."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.frameworks.pass_note import SUFFIX as BATCHES
from tfdarshan.native import _bridge
from tfdarshan.recording.active_recording import UNREAD, Recording
from tfdarshan.recording.spool import SO_FAR_PREFIX, copy_spool
from tfdarshan.sessions.session_data import Opened
from tfdarshan.units import human_bytes

# A larger recording is not copied while the job waits.
MOST_BYTES = 256 << 20


def live_snapshot(recording: Recording, open_session: Callable[[Path], Opened]) -> Opened:
    """Return what was recorded until now; the recording goes on. Its data go with the session object.

    Raises:
        SessionDataError: The recording is too large to be copied, or cannot be.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=SO_FAR_PREFIX, dir=recording.spool_directory.parent))
    except OSError as error:
        raise SessionDataError(f"what was recorded so far cannot be read: {reason(error)}.") from error
    try:
        session = open_session(_write(recording, folder))
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise SessionDataError(f"what was recorded so far cannot be read: {reason(error)}.") from error
        raise
    weakref.finalize(session, _remove, folder, os.getpid())
    session.path = recording.directory
    return session


def _write(recording: Recording, folder: Path) -> Path:
    from tfdarshan.recording.writing.writer import write_session

    spools, directory = folder / "spools", folder / recording.directory.name
    spools.mkdir()
    directory.mkdir()
    _copy(recording.spool_directory, spools)
    notes = [note for note in recording.marker.notes if note != UNREAD]
    marker = dataclasses.replace(recording.marker, spool_directory=str(spools), notes=notes)
    # Not that the process ended without stopping it, which a spool that is not finished looks like.
    extra = {"stopped": True, **recording.emulation()}
    write_session(directory, marker, extra)
    shutil.rmtree(spools)
    return directory


def _copy(source: Path, target: Path) -> None:
    """Copy the spools: the recording itself may change while it is read.

    The copy of this process's own spool is of one moment; other processes record on meanwhile.
    """
    with os.scandir(source) as entries:
        spools = [Path(entry.path) for entry in entries if entry.name.endswith((".spool", BATCHES))]
    used = sum(spool.stat().st_blocks * 512 for spool in spools)
    room = os.statvfs(target)
    # Once for the copy and once for the tables made of it.
    if used > min(MOST_BYTES, room.f_bavail * room.f_frsize // 2):
        raise SessionDataError(
            f"what was recorded so far is too large to be read meanwhile ({human_bytes(used)})."
        )
    for spool in spools:
        if not _copy_own(spool, target / spool.name):
            copy_spool(spool, target / spool.name)


def _copy_own(spool: Path, target: Path) -> bool:
    with spool.open("rb") as read, target.open("wb") as write:
        return _bridge.copy_own_spool(read.fileno(), write.fileno())


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
