"""Asks the kernel which bytes of a file are in the page cache, without reading any."""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache

# Source: cachestat(2), Linux 6.5; the same number on all architectures.
CACHESTAT = 451
PAGE = mmap.PAGESIZE
MAP_FAILED = ctypes.c_void_p(-1).value


class _Range(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("length", ctypes.c_uint64)]


class _Stat(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recent")]


def is_resident(handle: int, offset: int, length: int) -> bool | None:
    """Return whether any byte of a range is in the page cache; None where the kernel does not say.

    Args:
        handle: A descriptor that may read the file.
        offset: A multiple of the page size.
        length: In bytes, at least 1.
    """
    pages = _pages_by_cachestat(handle, offset, length)
    # Of an overlay's file, as containers have them, cachestat sees no page: those are the file's below.
    if not pages and _may_ask_mincore(handle):
        mapped = _pages_by_mincore(handle, offset, length)
        pages = pages if mapped is None else mapped
    return None if pages is None else pages > 0


def _pages_by_cachestat(handle: int, offset: int, length: int) -> int | None:
    asked, found = _Range(offset, length), _Stat()
    failed = _libc().syscall(CACHESTAT, handle, ctypes.byref(asked), ctypes.byref(found), 0)
    return None if failed else int(found.cached)


def _may_ask_mincore(handle: int) -> bool:
    """Return whether mincore tells the truth: of files that are not ours it calls every page resident."""
    try:
        return os.fstat(handle).st_uid == os.geteuid() or os.access(f"/proc/self/fd/{handle}", os.W_OK)
    except OSError:
        return False


def _pages_by_mincore(handle: int, offset: int, length: int) -> int | None:
    libc = _libc()
    address = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, handle, offset)
    if address == MAP_FAILED:
        return None
    try:
        pages = -(-length // PAGE)
        found = (ctypes.c_ubyte * pages)()
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), found):
            return None
        return sum(page & 1 for page in found)
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64,
    ]  # fmt: skip
    return libc
