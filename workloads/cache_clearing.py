"""Empties the page cache of a data set, as far as this user and this file system allow."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tfdarshan.units import plural


def drop_from_cache(paths: Iterable[Path]) -> int:
    """Ask the kernel to forget the pages of files; return the number of files it was asked about.

    Pages that are still to be written are written first. What lives in memory (tmpfs) stays there.
    """
    count = 0
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
        count += 1
    return count


def read_into_cache(paths: Iterable[Path]) -> None:
    """Read files, so that the page cache has them as far as there is memory."""
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def storage_bytes_read() -> int:
    """Return the bytes this process had fetched from storage so far (read_bytes of /proc/self/io)."""
    for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1])
    return 0


def drops_here(paths: list[Path], fetched: Callable[[], int] = storage_bytes_read) -> bool:
    """Return whether dropping works for these files: reading the first after it fetches from storage.

    Args:
        paths: The files.
        fetched: Counts what was fetched from storage so far.
    """
    drop_from_cache(paths[:1])
    before = fetched()
    with paths[0].open("rb", buffering=0) as file:
        file.read(mmap.PAGESIZE)
    return fetched() > before


def said_of_cache(paths: list[Path], fetched: Callable[[], int] = storage_bytes_read) -> str:
    """Return a sentence on what happens to the page cache before each run."""
    files = plural(len(paths), "file")
    if drops_here(paths, fetched):
        return f"page cache: the {files} are dropped before each run (posix_fadvise)"
    return f"page cache: the {files} cannot be dropped from it here, runs read from memory"
