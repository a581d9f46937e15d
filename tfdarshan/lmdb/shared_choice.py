"""What forked readers of one open database tell each other, and how they take turns."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
from collections.abc import Iterator

_CHOICE = struct.Struct("<BB")


class SharedChoice:
    """Memory that processes forked later share: how many reads in flight were found best."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def settle(self, in_flight: int, *, harmed: bool) -> None:
        """Tell the others what was found."""
        _CHOICE.pack_into(self._memory, 0, in_flight, harmed)

    def found(self) -> tuple[int, bool] | None:
        """Return how many in flight, and whether a second one harmed; None if nobody knows yet."""
        in_flight, harmed = _CHOICE.unpack_from(self._memory, 0)
        return (in_flight, bool(harmed)) if in_flight else None


@contextlib.contextmanager
def turn(path: str) -> Iterator[int]:
    """Wait until no other reader of a file has its turn, in whatever process: see csrc/offline/lmdb/turn.h.

    Yield a descriptor of the file, an opening of its own.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems know no such lock
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)
