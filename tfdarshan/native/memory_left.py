"""How much memory this process may still take: what control groups, ulimits and the machine leave."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.native import _extension

UNLIMITED = (1 << 64) - 1


@dataclass(frozen=True)
class MemoryLeft:
    """Bytes that are left, `UNLIMITED` where nothing limits them.

    Attributes:
        cgroup: By the control groups of this process; page cache of files, which the kernel drops, counts as
            left. Source: cgroup-v1/memory.rst and cgroup-v2.rst of the kernel's documentation.
        address_space: By RLIMIT_AS, getrlimit(2).
        lockable: By RLIMIT_MEMLOCK, if the process could lock all that it maps.
    """

    cgroup: int
    address_space: int
    lockable: int


def memory_left(root: str = "") -> MemoryLeft:
    """Return what is left now; `root` comes before the names of the kernel's files in tests."""
    ffi, lib = _extension.core()
    left = ffi.new("struct tfd_memory_left *")
    lib.tfd_memory_left(os.fsencode(root), left)
    return MemoryLeft(left.cgroup, left.address_space, left.lockable)


def free_bytes() -> int:
    """Return how much memory this process may still take: of the machine's, and of what limits it."""
    left = memory_left()
    return min(left.cgroup, left.address_space, _available_bytes())


def _available_bytes() -> int:
    """Return what the machine has free without swapping, `UNLIMITED` where it does not say so.

    Source: proc_meminfo(5).
    """
    try:
        content = Path("/proc/meminfo").read_bytes()
    except OSError:
        return UNLIMITED
    found = re.search(rb"^MemAvailable:\s+(\d+) kB", content, re.MULTILINE)
    return UNLIMITED if found is None else int(found[1]) << 10


def share_of(left_bytes: int) -> int:
    """Return what a recording may take of memory that is left: the job's own memory may still grow."""
    _, lib = _extension.core()
    return left_bytes // lib.TFD_MEMORY_SHARE


def is_in_memory(folder: Path) -> bool:
    """Return whether files in a folder are memory of a control group, as in /dev/shm."""
    _, lib = _extension.core()
    return bool(lib.tfd_folder_is_memory(os.fsencode(folder)))
