"""One owner for a folder: a second burst buffer is refused, one that was killed leaves nothing behind."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import weakref
from contextlib import suppress
from pathlib import Path

from tfdarshan.checkpoint.burst_errors import BurstBufferError, TierInUseError
from tfdarshan.errors import reason
from tfdarshan.sessions.session_directory import host_name

REFUSED = (errno.EWOULDBLOCK, errno.EACCES)


class FolderLock:
    """An flock of a file, which the kernel gives up when its process ends, however that is.

    Args:
        path: The lock file; it stays, as removing it would let two owners in.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        _locks.add(self)

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            TierInUseError: Another process, or another burst buffer of this one, has it.
            BurstBufferError: The file system has no such locks.
            OSError: The file cannot be opened.
        """
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in REFUSED:
                raise TierInUseError(
                    f"{self.path.parent.parent} is in use by another burst buffer{_owner(self.path)}: "
                    "stop that one, or give each job folders of its own."
                ) from error
            raise BurstBufferError(
                f"{self.path} cannot be locked: {reason(error)}; "
                "the burst buffer needs a file system with flock, to keep a second writer out."
            ) from error
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"host": host_name(), "pid": os.getpid()}).encode(), 0)
        self._descriptor = descriptor

    def held(self) -> bool:
        """Return whether the lock is held and its file is still the one at its path."""
        if self._descriptor is None:
            return False
        try:
            mine, there = os.fstat(self._descriptor), self.path.stat()
        except OSError:
            return False
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)

    def release(self) -> None:
        """Give the lock up; does nothing without it."""
        if self._descriptor is not None:
            # A child that is just being forked has the descriptor too: closing alone would leave it the lock.
            with suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.forget()

    def forget(self) -> None:
        """Close the file and leave the lock to whoever else has it open."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


def owner_of(path: Path) -> dict[str, object] | None:
    """Return host and pid of a lock's owner, {} if the lock does not say, None where nobody has it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        with suppress(OSError):
            return _decoded(os.pread(descriptor, 4096, 0))
        return {}
    finally:
        os.close(descriptor)
    return None


def _owner(path: Path) -> str:
    with suppress(OSError):
        if owner := _decoded(path.read_bytes()):
            return f" (process {owner['pid']} on {owner['host']})"
    return ""


def _decoded(content: bytes) -> dict[str, object]:
    """Return host and pid, {} where they cannot be told: a lock holds without them."""
    from tfdarshan.checkpoint.tier_shape import LockShape
    from tfdarshan.sessions.checked_json import DecodingError, decode

    try:
        owner = decode(content, LockShape)
    except DecodingError:
        return {}
    return {"host": owner.host, "pid": owner.pid}


# A forked child shares the descriptor, and with it the lock, for as long as it lives: it lets go at once.
_locks: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _release_in_child() -> None:
    for lock in list(_locks):
        lock.forget()


os.register_at_fork(after_in_child=_release_in_child)
