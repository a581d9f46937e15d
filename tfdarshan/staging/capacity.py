"""Sizes as people write them, and the room that there is on a tier."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import ConfigurationError, StorageError, reason
from tfdarshan.units import human_bytes

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)
POWERS = "kmgtp"
KB, KIB = 1000, 1024


@dataclass(frozen=True)
class Room:
    """What may be used of a tier, what must stay free, and the size of its blocks; all in bytes."""

    usable: int
    reserve: int
    block: int


def parse_size(text: str) -> int:
    """Return a size in bytes: "100G" is 100e9, "100GiB" 100 x 2^30.

    Raises:
        ConfigurationError: It is no size.
    """
    match = SIZE.fullmatch(text.strip())
    number, unit, binary = match.groups() if match else ("inf", "", "")
    power = POWERS.index(unit.lower()) + 1 if unit else 0
    size = float(number) * (KIB if binary else KB) ** power
    if not math.isfinite(size):
        raise ConfigurationError(f"{text!r} is not a size: write it as 500M, 100G or 100GiB.")
    return int(size)


def measure_room(fast: str, capacity: int | None, reserve: int | None) -> Room:
    """Return what may be used of the tier that folder `fast` is on.

    Args:
        fast: The folder, or where it will be: its nearest parent that exists is looked at.
        capacity: The most to use; None for all that is free.
        reserve: What must stay free; None for a hundredth of the file system.

    Raises:
        ConfigurationError: It is no folder, or nothing of it may be used.
        StorageError: The tier cannot be looked at, or there is nothing to use.
    """
    if capacity == 0:
        raise ConfigurationError(
            "a capacity of 0 B has room for no file: give more, or leave --capacity out."
        )
    folder = existing_parent(fast)
    try:
        found = os.statvfs(folder)
    except OSError as error:
        raise StorageError(
            f"the fast tier {folder} cannot be used: {reason(error)}; name another folder."
        ) from error
    size, free = found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail
    kept = size // 100 if reserve is None else reserve
    usable = min(free - kept, free if capacity is None else capacity)
    if usable <= 0:
        raise StorageError(
            f"there is no room on {folder}: {human_bytes(free)} are free and {human_bytes(kept)} must stay "
            "free; remove files, or lower --reserve."
        )
    return Room(usable, kept, found.f_frsize)


def mount_point(path: str) -> str:
    """Return where the file system is mounted that a folder is on, or will be on when it is made.

    Raises:
        ConfigurationError: A file has its name, or that of a folder above it.
    """
    folder = os.path.realpath(existing_parent(path))
    while not os.path.ismount(folder):
        folder = os.path.dirname(folder)  # noqa: PTH120
    return folder


def existing_parent(path: str) -> str:
    """Return the folder itself, or the nearest one above it that exists.

    Raises:
        ConfigurationError: A file has its name, or that of a folder above it.
    """
    folder = Path(path)
    while not folder.is_dir() and folder != folder.parent:
        if folder.exists():
            raise ConfigurationError(
                f"{folder} is not a folder: name a folder on the fast tier for the copies."
            )
        folder = folder.parent
    return str(folder)
