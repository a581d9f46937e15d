"""Copies a file durably within bounds of memory and bandwidth, and checks the copy against what was read."""

from __future__ import annotations

import errno
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import xxhash

from tfdarshan.checkpoint.burst_errors import CopyCancelledError, DamagedCopyError, SourceError
from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import Storage, set_direct

# What direct I/O wants lengths and addresses to be multiples of; a page fits every disk.
DIRECT_BLOCK_BYTES = 4096
# Through the page cache no more than this is left unwritten, so that others' writes do not wait for ours.
DIRTY_BYTES = 32 << 20
# How often a file that is still written to is looked at.
FOLLOW_S = 0.02


class Growing:
    """A file that is being written, from its beginning to its end.

    Args:
        find: Gives its path as it is now, None while there is none.

    Attributes:
        finished: Set when nothing is written to it any more.
    """

    def __init__(self, find: Callable[[], Path | None]) -> None:
        self.find = find
        self.finished = threading.Event()


@dataclass(frozen=True)
class CopiedFile:
    """A file that was copied: its name, its size, and the XXH3 128-bit digest of its bytes in hex."""

    name: str
    size_bytes: int
    digest: str


class Copier:
    """Copies files one at a time through one buffer.

    Args:
        storage: The file operations.
        buffer_bytes: Memory to copy through, rounded up to whole pages.
        bytes_per_s: Bandwidth of writing, None for all there is.
    """

    def __init__(
        self, storage: Storage, *, buffer_bytes: int = 8 << 20, bytes_per_s: float | None = None
    ) -> None:
        self._storage = storage
        self._buffer_bytes = -(-buffer_bytes // DIRECT_BLOCK_BYTES) * DIRECT_BLOCK_BYTES
        self._buffer: memoryview | None = None
        self._limit = BandwidthLimit(bytes_per_s)
        self.cancelled = threading.Event()
        self._given_up = threading.Event()

    @contextmanager
    def ending_at(self, given_up: threading.Event | None) -> Iterator[None]:
        """Lets `given_up` end what is copied meanwhile, as `cancelled` ends everything."""
        before, self._given_up = self._given_up, given_up or self._given_up
        try:
            yield
        finally:
            self._given_up = before

    def copy(self, source: Path, target: Path, *, finished: threading.Event | None = None) -> CopiedFile:
        """Makes `target` a durable copy of `source`; its name is durable after its folder is synced.

        Args:
            source: The file to copy.
            target: The file to make.
            finished: Set when nothing is written to `source` any more: until then its end is not the end.
                None where that is so already.

        Raises:
            SourceError: `source` cannot be read.
            OSError: `target` cannot be written.
            CopyCancelledError: `cancelled` was set meanwhile.
        """
        storage = self._storage
        try:
            reader = storage.open(source, os.O_RDONLY)
        except OSError as error:
            raise SourceError(error.errno, error.strerror, str(source)) from error
        try:
            writer = storage.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                digest, size_bytes = self._pass(reader, source, writer, target, finished or _set_event())
                storage.sync(writer, target)
            finally:
                os.close(writer)
        finally:
            os.close(reader)
        return CopiedFile(target.name, size_bytes, digest)

    def follow(self, growing: Growing, target: Path) -> CopiedFile | None:
        """Copies a file while it is written; None where there was none to be found meanwhile.

        The copy is of what was read: only comparing its digest with the finished file's says whether that
        is what the file holds.

        Raises:
            SourceError: The file cannot be read.
            OSError: `target` cannot be written.
            CopyCancelledError: `cancelled` was set meanwhile.
        """
        finished = False
        while (source := growing.find()) is None:
            if finished:
                return None
            finished = growing.finished.wait(FOLLOW_S)
            self._check_cancelled(target)
        return self.copy(source, target, finished=growing.finished)

    def holds(self, path: Path, copied: CopiedFile) -> bool:
        """Says whether a file holds the bytes that were copied, by size and digest.

        Raises:
            SourceError: It cannot be read.
            CopyCancelledError: `cancelled` was set meanwhile.
        """
        try:
            if path.stat().st_size != copied.size_bytes:
                return False
            descriptor = self._storage.open(path, os.O_RDONLY)
            try:
                return self._digest(descriptor, path) == (copied.size_bytes, copied.digest)
            finally:
                os.close(descriptor)
        except CopyCancelledError:
            raise
        except OSError as error:
            raise SourceError(error.errno, error.strerror, str(path)) from error

    def verify(self, copied: CopiedFile, path: Path) -> None:
        """Reads a copy back, past the page cache where the file system can, and compares size and digest.

        Raises:
            DamagedCopyError: It holds other bytes.
            OSError: It cannot be read.
        """
        descriptor = self._storage.open(path, os.O_RDONLY)
        try:
            if not set_direct(descriptor, True):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            size_bytes, digest = self._digest(descriptor, path)
        finally:
            os.close(descriptor)
        if (size_bytes, digest) != (copied.size_bytes, copied.digest):
            raise DamagedCopyError(
                errno.EIO,
                f"the copy holds other bytes than were written ({size_bytes:,} bytes read)",
                str(path),
            )

    def _digest(self, descriptor: int, path: Path) -> tuple[int, str]:
        view, digest, size_bytes = self._view(), xxhash.xxh3_128(), 0
        while count := self._read_back(descriptor, view, path):
            digest.update(view[:count])
            size_bytes += count
            self._check_cancelled(path)
        return size_bytes, digest.hexdigest()

    def _pass(
        self, reader: int, source: Path, writer: int, target: Path, finished: threading.Event
    ) -> tuple[str, int]:
        storage, view, digest = self._storage, self._view(), xxhash.xxh3_128()
        direct, size_bytes, unsynced = set_direct(writer, True), 0, 0
        while count := self._read_source(reader, view, source, finished):
            digest.update(view[:count])
            if direct and count % DIRECT_BLOCK_BYTES:
                direct = not set_direct(writer, False)
            try:
                storage.write(writer, view[:count], target)
            except OSError as error:
                # Some file systems take the flag and refuse the write.
                if not (direct and error.errno == errno.EINVAL and set_direct(writer, False)):
                    raise
                direct = False
                os.lseek(writer, size_bytes, os.SEEK_SET)
                storage.write(writer, view[:count], target)
            size_bytes += count
            unsynced += 0 if direct else count
            if unsynced >= DIRTY_BYTES:
                storage.sync(writer, target)
                os.posix_fadvise(writer, 0, size_bytes, os.POSIX_FADV_DONTNEED)
                unsynced = 0
            self._limit.take(count, check=lambda: self._check_cancelled(target))
        return digest.hexdigest(), size_bytes

    def _read_source(self, descriptor: int, view: memoryview, path: Path, finished: threading.Event) -> int:
        """Fills `view`; less than that is the end of the finished file."""
        filled = 0
        while True:
            is_finished = finished.is_set()
            try:
                filled += self._storage.read(descriptor, view[filled:], path)
            except OSError as error:
                raise SourceError(error.errno, error.strerror, str(path)) from error
            if is_finished or filled == len(view):
                return filled
            finished.wait(FOLLOW_S)
            self._check_cancelled(path)

    def _read_back(self, descriptor: int, view: memoryview, path: Path) -> int:
        try:
            return self._storage.read(descriptor, view, path)
        except OSError as error:
            if error.errno != errno.EINVAL or not set_direct(descriptor, False):
                raise
            return self._storage.read(descriptor, view, path)

    def _check_cancelled(self, path: Path) -> None:
        if self.cancelled.is_set() or self._given_up.is_set():
            raise CopyCancelledError(errno.ECANCELED, "the copy was stopped", str(path))

    def _view(self) -> memoryview:
        if self._buffer is None:
            self._buffer = memoryview(mmap.mmap(-1, self._buffer_bytes))
        return self._buffer

    def release(self) -> None:
        """Gives the buffer's memory back until the next copy."""
        if self._buffer is not None:
            buffer, self._buffer = self._buffer, None
            mapping = buffer.obj
            buffer.release()
            with suppress(BufferError):
                mapping.close()  # type: ignore[attr-defined]


def _set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event
