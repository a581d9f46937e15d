"""Measures a tier: a few seconds of writing and reading files that have no name and vanish by themselves."""

from __future__ import annotations

import contextlib
import errno
import math
import mmap
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from tfdarshan.analysis.storage.time_model import TimeModel, fit_time_model
from tfdarshan.errors import StorageError, reason
from tfdarshan.units import plural

SIZES = (4_096, 65_536, 262_144, 1_048_576, 4_194_304)
FILES_OF_SIZE = (16, 16, 8, 6, 4)
LONGEST_S = 5.0
ROUNDS = 5
BLOCK = 1 << 20
# Calls of a pass that wait: an open, and a read.
CALLS_OF_PASS = 2
ALIGNMENT = 4_096


@dataclass(frozen=True)
class TierProbe:
    """What the probe found.

    Attributes:
        model: Time of one pass over a file: open, read, close.
        write_bytes_per_s: Bandwidth of writing and syncing by one thread.
        direct: Whether reads went past the page cache (O_DIRECT); else its pages were dropped before, or
            could not be.
        note: How it was measured, and what is doubtful about it.
    """

    model: TimeModel
    write_bytes_per_s: float
    direct: bool
    note: str

    @property
    def call_s(self) -> float:
        """What a call takes, however many bytes it moves."""
        return self.model.base_s / CALLS_OF_PASS

    @property
    def bytes_per_s(self) -> float:
        """What a thread reads a second."""
        return 1 / self.model.s_per_byte if self.model.s_per_byte > 0 else math.inf


def probe_tier(folder: str, threads: int) -> TierProbe:
    """Write about 32 MB below `folder` and read it with `threads` threads at a time.

    The files are made with O_TMPFILE, or unlinked at once where the file system cannot do that: the kernel
    frees them however this process ends, so nothing is left to clean up.

    Args:
        folder: Any folder on the tier.
        threads: Reads at a time.

    Raises:
        StorageError: The folder cannot be written.
    """
    plan = [size for size, count in zip(SIZES, FILES_OF_SIZE, strict=True) for _ in range(count)]
    started = time.perf_counter()
    try:
        _noise()
        with ExitStack() as stack:
            handles, sizes, written_s = [], [], 0.0
            for size in _mixed(plan):
                before = time.perf_counter()
                handles.append(stack.enter_context(_nameless(folder, size)))
                sizes.append(size)
                written_s += time.perf_counter() - before
                if time.perf_counter() - started > LONGEST_S / 2 and len(handles) >= len(SIZES):
                    break
            direct = _can_read_directly(handles[0])
            with ThreadPoolExecutor(max(threads, 1)) as pool:
                rounds = [
                    list(pool.map(lambda handle, size: _pass_s(handle, size, direct), handles, sizes))
                    for _ in range(ROUNDS)
                ]
    except OSError as error:
        raise StorageError(
            f"the fast tier {folder} cannot be measured: {reason(error)}; choose a folder you can write to."
        ) from error
    model = fit_time_model(np.array(sizes, float), np.median(rounds, axis=0))
    return TierProbe(
        model, sum(sizes) / max(written_s, 1e-9), direct, _how(len(sizes), threads, direct=direct)
    )


def _mixed(plan: list[int]) -> list[int]:
    """Return the sizes in an order in which every beginning has all of them."""
    return [size for turn in range(max(FILES_OF_SIZE)) for size in SIZES if plan.count(size) > turn]


@contextmanager
def _nameless(folder: str, size: int) -> Iterator[int]:
    """Yield a descriptor of a synced file of `size` bytes that no name leads to."""
    handle = _open_nameless(folder)
    try:
        block = _noise()[:size]
        done = 0
        while done < size:
            done += os.write(handle, block[: size - done])
        os.fsync(handle)
        yield handle
    finally:
        os.close(handle)


@cache
def _noise() -> bytes:
    """Return 1 MiB that does not compress."""
    return os.urandom(BLOCK)


def _open_nameless(folder: str) -> int:
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
    name = f"{folder}/.tfdarshan-probe-{os.getpid()}-{time.monotonic_ns()}"
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    os.unlink(name)  # noqa: PTH108
    return handle


def _can_read_directly(handle: int) -> bool:
    try:
        again = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        with mmap.mmap(-1, ALIGNMENT) as buffer:
            os.preadv(again, [buffer], 0)
        return True
    except OSError:
        return False
    finally:
        os.close(again)


def _pass_s(handle: int, size: int, direct: bool) -> float:
    """Return the time to open the file again, read it whole in blocks of 1 MiB, and close it."""
    if not direct:
        with contextlib.suppress(OSError):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    with mmap.mmap(-1, min(-(-size // ALIGNMENT) * ALIGNMENT, BLOCK)) as buffer:
        buffer[:] = bytes(len(buffer))
        before = time.perf_counter()
        again = os.open(
            f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECT if direct else 0)
        )
        try:
            offset = 0
            while offset < size:
                got = os.preadv(again, [buffer], offset)
                if got <= 0:
                    break
                offset += got
        finally:
            os.close(again)
        return time.perf_counter() - before


def _how(files: int, threads: int, *, direct: bool) -> str:
    way = "past the page cache" if direct else "after dropping its pages, which not every file system does"
    return f"measured on {plural(files, 'file')} by {plural(threads, 'thread')}, {way}"
