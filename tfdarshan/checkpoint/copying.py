"""Copies a file durably within bounds of memory and bandwidth, and checks the copy against what was read."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import xxhash

from tfdarshan.checkpoint.burst_errors import CopyCancelledError, DamagedCopyError, SourceError
from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import AnyPath, Storage
from tfdarshan.durable.verified_copy import Contents, VerifiedCopy, copy_buffer

# How often a file that is still written to is looked at.
FOLLOW_S = 0.02
_FINISHED = threading.Event()
_FINISHED.set()


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

    @property
    def contents(self) -> Contents:
        """What the copy must hold."""
        return Contents(self.size_bytes, self.digest)


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
        self._bytes = VerifiedCopy(
            storage=storage,
            new_digest=xxhash.xxh3_128,
            buffer=copy_buffer(buffer_bytes),
            limit=BandwidthLimit(bytes_per_s),
            past_page_cache=True,
            check=self._check_cancelled,
        )
        self.cancelled = threading.Event()
        self._given_up = threading.Event()

    @contextmanager
    def ending_at(self, given_up: threading.Event | None) -> Iterator[None]:
        """Let `given_up` end what is copied meanwhile, as `cancelled` ends everything."""
        before, self._given_up = self._given_up, given_up or self._given_up
        try:
            yield
        finally:
            self._given_up = before

    def copy(self, source: Path, target: Path, *, finished: threading.Event = _FINISHED) -> CopiedFile:
        """Make `target` a durable copy of `source`; its name is durable after its folder is synced.

        Args:
            source: The file to copy.
            target: The file to make.
            finished: Set when nothing is written to `source` any more: until then its end is not the end.

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
            with storage.opened(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as writer:
                read = partial(self._read_source, reader, source, finished)
                copied = self._bytes.transfer(read, writer, target)
                storage.sync(writer, target)
        finally:
            os.close(reader)
        return CopiedFile(target.name, copied.size_bytes, copied.digest)

    def follow(self, growing: Growing, target: Path) -> CopiedFile | None:
        """Copy a file while it is written; None where there was none to be found meanwhile.

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
        """Return whether a file holds the bytes that were copied, by size and digest.

        Raises:
            SourceError: It cannot be read.
            CopyCancelledError: `cancelled` was set meanwhile.
        """
        try:
            if path.stat().st_size != copied.size_bytes:
                return False
            with self._storage.opened(path, os.O_RDONLY) as descriptor:
                return self._bytes.contents(descriptor, path) == copied.contents
        except CopyCancelledError:
            raise
        except OSError as error:
            raise SourceError(error.errno, error.strerror, str(path)) from error

    def verify(self, copied: CopiedFile, path: Path) -> None:
        """Read a copy back, past the page cache where the file system can, and compare size and digest.

        Raises:
            DamagedCopyError: It holds other bytes.
            OSError: It cannot be read.
        """
        with self._storage.opened(path, os.O_RDONLY) as descriptor:
            found = self._bytes.read_back(descriptor, path)
        if found != copied.contents:
            raise DamagedCopyError(
                errno.EIO,
                f"the copy holds other bytes than were written ({found.size_bytes:,} bytes read)",
                str(path),
            )

    def _read_source(self, descriptor: int, path: Path, finished: threading.Event, view: memoryview) -> int:
        """Fill `view`; less than that is the end of the finished file."""
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

    def _check_cancelled(self, path: AnyPath) -> None:
        if self.cancelled.is_set() or self._given_up.is_set():
            raise CopyCancelledError(errno.ECANCELED, "the copy was stopped", str(path))
