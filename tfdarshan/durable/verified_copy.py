"""Copies bytes with their digest, at a bounded rate, and reads them back from where they were written to."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import AnyPath, Storage, set_direct

# What direct I/O wants lengths and addresses to be multiples of; a page fits every disk.
DIRECT_BLOCK_BYTES = 4096
# Through the page cache no more than this is left unwritten, so that others' writes do not wait for ours.
DIRTY_BYTES = 32 << 20


class Digest(Protocol):
    """What bytes are added to."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """Return the digest of all bytes so far."""


@dataclass(frozen=True)
class Contents:
    """What a file holds: its size, and the digest of its bytes in hex."""

    size_bytes: int
    digest: str


def _nothing(_what: object) -> None:
    """What is called between blocks if nobody ends or watches a copy."""


@dataclass(frozen=True, kw_only=True)
class VerifiedCopy:
    """Copies the bytes of open files and reads them back, through one buffer: one file at a time.

    Attributes:
        storage: The file operations.
        new_digest: Makes an empty digest.
        buffer: Memory to copy through, from `copy_buffer()`.
        limit: Limits the bytes that are written.
        past_page_cache: Whether copies leave few unwritten pages that others' writes would wait for, and are
            read back from the device, as far as the file system can.
        check: Called with a file's path between blocks; what it raises ends the work.
        moved: Called with the size of each block that was written, after it has had its time.
    """

    storage: Storage
    new_digest: Callable[[], Digest]
    buffer: memoryview
    limit: BandwidthLimit
    past_page_cache: bool
    check: Callable[[AnyPath], None] = _nothing
    moved: Callable[[int], None] = _nothing

    def transfer(self, read: Callable[[memoryview], int], writer: int, target: AnyPath) -> Contents:
        """Write to `writer`, an empty file, all that `read` gives; what is written is not durable yet.

        Args:
            read: Fills a view and gives the bytes read; fewer than the view has room for is the end.
            writer: The open copy.
            target: Its path.

        Raises:
            OSError: It cannot be written.
        """
        digest, size_bytes, unsynced = self.new_digest(), 0, 0
        direct = self.past_page_cache and set_direct(writer, True)
        for block in _blocks(read, self.buffer):
            digest.update(block)
            direct = self._write(writer, block, target, size_bytes, direct=direct)
            size_bytes += len(block)
            unsynced += 0 if direct else len(block)
            if self.past_page_cache and unsynced >= DIRTY_BYTES:
                self.storage.sync(writer, target)
                os.posix_fadvise(writer, 0, size_bytes, os.POSIX_FADV_DONTNEED)
                unsynced = 0
            self.limit.take(len(block), check=lambda: self.check(target))
            self.moved(len(block))
        return Contents(size_bytes, digest.hexdigest())

    def read_back(self, descriptor: int, path: AnyPath) -> Contents:
        """Read a copy from its device, as far as its file system can, to be compared with what was copied.

        Raises:
            OSError: It cannot be read.
        """
        if not (self.past_page_cache and set_direct(descriptor, True)):
            with suppress(OSError):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return self.contents(descriptor, path)

    def contents(self, descriptor: int, path: AnyPath) -> Contents:
        """Read an open file from its beginning.

        Raises:
            OSError: It cannot be read.
        """
        digest, size_bytes = self.new_digest(), 0
        os.lseek(descriptor, 0, os.SEEK_SET)

        def read(view: memoryview) -> int:
            try:
                return self.storage.read(descriptor, view, path)
            except OSError as error:
                # Some file systems take the flag and refuse the read, perhaps not the first.
                if error.errno != errno.EINVAL or not set_direct(descriptor, False):
                    raise
                os.lseek(descriptor, size_bytes, os.SEEK_SET)
                return self.storage.read(descriptor, view, path)

        for block in _blocks(read, self.buffer):
            digest.update(block)
            size_bytes += len(block)
            self.check(path)
        return Contents(size_bytes, digest.hexdigest())

    def _write(self, writer: int, block: memoryview, target: AnyPath, offset: int, *, direct: bool) -> bool:
        """Write a block at `offset`, where the file ends; say whether the file is past the page cache."""
        if direct and len(block) % DIRECT_BLOCK_BYTES:
            direct = not set_direct(writer, False)
        try:
            self.storage.write(writer, block, target)
        except OSError as error:
            # Some file systems take the flag and refuse the write.
            if not (direct and error.errno == errno.EINVAL and set_direct(writer, False)):
                raise
            direct = False
            os.lseek(writer, offset, os.SEEK_SET)
            self.storage.write(writer, block, target)
        return direct


def copy_buffer(size_bytes: int) -> memoryview:
    """Return memory to copy through, of `size_bytes` rounded up to whole pages; it is taken as it is used."""
    return memoryview(mmap.mmap(-1, -(-size_bytes // DIRECT_BLOCK_BYTES) * DIRECT_BLOCK_BYTES))


def _blocks(read: Callable[[memoryview], int], view: memoryview) -> Iterator[memoryview]:
    """Yield what is read, to the end, which is where `view` is not filled."""
    count = len(view)
    while count == len(view):
        if count := read(view):
            yield view[:count]
