"""Finds sizes of files that no recorded call showed, within a bound on number and time."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tfdarshan.file_name import exact_name
from tfdarshan.native.spool_reader import Array, Mount

MAX_FILES = 10_000
MAX_SECONDS = 0.5
LOCAL_TYPES = frozenset(
    "bcachefs btrfs erofs ext2 ext3 ext4 f2fs jfs overlay ramfs reiserfs squashfs tmpfs vfat xfs zfs".split()
)


class SizeFinder:
    """Asks local file systems only: a stat on a network file system may take as long as it likes."""

    def __init__(self, mounts: Sequence[Mount], clock: Callable[[], float] = time.monotonic) -> None:
        self._local = np.array([mount.fs_type in LOCAL_TYPES for mount in mounts] + [False])
        self._clock = clock
        self._deadline = clock() + MAX_SECONDS
        self._left = MAX_FILES

    def fill(self, paths: Sequence[str], mount: Array, size_bytes: Array) -> Array:
        """Return `size_bytes` with unknown sizes (-1) filled in for regular files, as the bounds allow."""
        sizes: Array = size_bytes.copy()
        for row in np.flatnonzero((sizes < 0) & self._local[mount])[: self._left].tolist():
            if self._clock() > self._deadline:
                self._left = 0
                break
            self._left -= 1
            sizes[row] = _regular_size(paths[row])
        return sizes


def _regular_size(path: str) -> int:
    try:
        found = Path(exact_name(path)).stat()
    except (OSError, ValueError):
        return -1
    return found.st_size if stat.S_ISREG(found.st_mode) else -1
