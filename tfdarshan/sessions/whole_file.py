"""Opens files that may come from anybody: regular ones alone, and whole only if the free memory holds them.

A FIFO would be waited for, a device never ends, and a file without content may have any size.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from tfdarshan.units import human_bytes

# Bytes of memory for a byte of JSON at most: "{}," is a dictionary of 64 bytes in a list that grows.
JSON_GROWTH = 32
# To ask the kernel what is free takes 0.2 ms; so much is taken without that, as by most small sessions.
ALWAYS_FREE_BYTES = 1 << 20


class TooLargeError(OSError):
    """What would be read takes more memory than is free."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: It cannot be opened, or is a folder, a FIFO or a device.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a regular file")
    # It may have become a FIFO meanwhile.
    return os.fdopen(os.open(str(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")


def read_whole(path: Path, *, growth: int = 1) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        growth: Bytes of memory for a byte of it, once it is decoded.

    Raises:
        OSError: It cannot be read, is not a regular file, or takes more memory than is free.
    """
    with open_regular(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        check_room(size_bytes * growth)
        return file.read(size_bytes)


def check_room(needed_bytes: int) -> None:
    """Raise if so many bytes are more than the free memory.

    Raises:
        TooLargeError: They are.
    """
    from tfdarshan.native.memory_left import free_bytes

    if not fits(needed_bytes):
        free = human_bytes(free_bytes())
        raise TooLargeError(f"it takes {human_bytes(needed_bytes)} of memory, and {free} are free")


def fits(needed_bytes: int) -> bool:
    """Return whether so many bytes are no more than the free memory."""
    from tfdarshan.native.memory_left import free_bytes

    return needed_bytes <= ALWAYS_FREE_BYTES or needed_bytes <= free_bytes()
