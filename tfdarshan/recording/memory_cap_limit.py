"""What lowers `memory_cap_mb` at a session's start: the spool folder's room, or the memory that is left.

The C core holds the cap while the session records (csrc/spool/memory_cap.h).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import StorageError, reason
from tfdarshan.native.memory_left import UNLIMITED, is_in_memory, memory_left, share_of
from tfdarshan.options import MIN_MEMORY_CAP_MB

MIB = 1 << 20
SMALLEST_BYTES = MIN_MEMORY_CAP_MB * MIB


@dataclass(frozen=True)
class Bound:
    """The most bytes that a session's spools may take; `why` and `fix` are parts of a sentence."""

    bytes: int
    why: str
    fix: str


def tightest_bound(folder: Path, otherwise: str) -> Bound:
    """Return the smallest bound of a session that records into a folder.

    Args:
        folder: Where its spool is made.
        otherwise: How the user names another folder.

    Raises:
        StorageError: The folder cannot be used.
    """
    return min(_bounds(folder, otherwise), key=lambda bound: bound.bytes)


def free_bytes(folder: Path) -> int:
    """Return the room in a folder's file system for this user.

    Raises:
        StorageError: The folder cannot be used.
    """
    try:
        usage = os.statvfs(folder)
    except OSError as error:
        raise StorageError(
            f"the spool folder {folder} cannot be used: {reason(error)}; name another one."
        ) from error
    return usage.f_bavail * usage.f_frsize


def _bounds(folder: Path, otherwise: str) -> Iterator[Bound]:
    free = free_bytes(folder)
    yield Bound(
        free,
        f"the spool folder {folder} has {free // MIB} MiB free",
        f"make room there, or name another with {otherwise}",
    )
    left = memory_left()
    if left.cgroup != UNLIMITED and is_in_memory(folder):
        # The least is allowed: whether the group has room for it is asked again before each part is taken.
        yield Bound(
            max(share_of(left.cgroup), SMALLEST_BYTES),
            f"the job's control group leaves {left.cgroup // MIB} MiB of memory",
            f"raise its limit, or name a folder on a disk with {otherwise}",
        )
    for bytes_left, limit, what in (
        (left.address_space, "ulimit -v", "address space"),
        (left.lockable, "ulimit -l", "memory that may be locked"),
    ):
        if bytes_left != UNLIMITED:
            yield Bound(
                max(share_of(bytes_left), min(bytes_left // 2, SMALLEST_BYTES)),
                f"`{limit}` leaves {bytes_left // MIB} MiB of {what}",
                f"raise `{limit}`",
            )
