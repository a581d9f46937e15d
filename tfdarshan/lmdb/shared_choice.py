"""What forked readers of one open database tell each other, so that one measures storage for all."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
import weakref
from collections.abc import Iterator

_CHOICE = struct.Struct("<BB")


class SharedChoice:
    """Memory that processes forked later share: how many reads in flight were found best.

    Nothing is left behind by who is killed: its lock is the kernel's to give up.
    """

    def __init__(self) -> None:
        handle = os.memfd_create("tfdarshan-lmdb", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, handle).atexit = False
        os.ftruncate(handle, mmap.PAGESIZE)
        self._handle, self._memory = handle, mmap.mmap(handle, mmap.PAGESIZE)

    def begin(self) -> bool:
        """Says whether no other process measures; then it is this one that does, until `end`."""
        try:
            # Of a process, and not inherited by those that it forks.
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def settle(self, in_flight: int, *, harmed: bool) -> None:
        """Tells the others what was found."""
        _CHOICE.pack_into(self._memory, 0, in_flight, harmed)

    def end(self) -> None:
        """Lets others measure."""
        fcntl.lockf(self._handle, fcntl.LOCK_UN)

    def found(self) -> tuple[int, bool] | None:
        """Gives how many in flight, and whether a second one harmed; None if nobody knows yet."""
        in_flight, harmed = _CHOICE.unpack_from(self._memory, 0)
        return (in_flight, bool(harmed)) if in_flight else None


@contextlib.contextmanager
def turn(path: str) -> Iterator[None]:
    """Waits until no other reader of a file has its turn, in whatever process: see csrc/lmdb/turn.h."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems know no such lock
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
