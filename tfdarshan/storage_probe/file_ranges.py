"""Ranges of files to be read, each once, and only such as are not in the page cache."""

from __future__ import annotations

import errno
import os
import random
import stat
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tfdarshan.native.residency import is_resident

# What one read takes of a file at most; each range is read once, whole or its first bytes.
RANGE_BYTES = 131_072
# Ranges of one file, and files that are open at a time.
MOST_RANGES = 2_048
FEWEST_OPEN, MOST_OPEN = 12, 48
# Files without a range that storage would have to read, one after the other, after which there are none.
ALL_CACHED = 500
# Of its size on storage; a file with less has holes, whose reads storage does not see.
SPARSE = 0.5
# The unit of st_blocks: stat(2).
BLOCK_BYTES = 512
FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


@dataclass
class OpenFile:
    """A file that is open, and where it may be read."""

    path: str
    handle: int
    direct: bool
    open_s: float
    size: int
    sparse: bool = False
    offsets: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class FileRange:
    """A part of a file."""

    file: OpenFile
    offset: int
    length: int


# Opens files, side by side; gives an error in the place of one that cannot be opened.
OpenAll = Callable[[Sequence[str]], "list[OpenFile | OSError]"]


@dataclass
class Ranges:
    """Give ranges that storage has to read.

    Attributes:
        paths: The files, in the order in which they are taken.
        noise: Chooses where in a file.
        clock: Seconds.
        open_all: Opens files.
        resident: Says whether a range is in the page cache.
        asked: Ranges of which the kernel said whether they are in the page cache.
        cached: Those that are.
        unreadable: Files that cannot be opened or read.
        blind: Files left out because nobody can say what of them is in the page cache.
        opened: Files that were opened, and are regular files with content.
        error: Why the last of the unreadable ones is.
    """

    paths: deque[str]
    noise: random.Random
    clock: Callable[[], float]
    open_all: OpenAll
    resident: Callable[[int, int, int], bool | None] = is_resident
    files: list[OpenFile] = field(default_factory=list)
    asked: int = 0
    cached: int = 0
    unreadable: int = 0
    blind: int = 0
    opened: int = 0
    error: OSError | None = None

    @property
    def left(self) -> int:
        """How many ranges there are still, at least as far as is known."""
        return len(self.paths) + sum(len(file.offsets) for file in self.files)

    def take(self, count: int, until: float) -> list[FileRange]:
        """Return so many, of one file after the other; fewer if no more are there, or it takes too long."""
        found: list[FileRange] = []
        in_vain = 0
        while len(found) < count and in_vain < ALL_CACHED and self.clock() < until:
            opened = self._fill(count - len(found), found)
            if not any(file.offsets for file in self.files):
                if not opened:
                    break
                continue
            before = len(found)
            for file in self.files:
                if len(found) < count:
                    found += self._next_of(file)
            in_vain = 0 if len(found) > before else in_vain + opened
        return found

    def leave_direct(self) -> None:
        """Open the files anew, once `open_all` opens them so that reads go through the page cache."""
        before = {file.path: file.offsets for file in self.files}
        self.close()
        for file in self.open_all(list(before)):
            if not isinstance(file, OSError):
                self.files.append(file)
                file.offsets = [] if self._is_blind(file) else before[file.path]

    def give_back(self, parts: Sequence[FileRange]) -> None:
        """Take back ranges that were not read."""
        for part in parts:
            part.file.offsets.append(part.offset)

    def leave_out(self, paths: Collection[str]) -> None:
        """Take no more of files that cannot be read."""
        for file in self.files:
            if file.path in paths:
                self.unreadable += 1
                file.offsets.clear()

    def release(self, kept: Sequence[FileRange] = ()) -> None:
        """Close files of which nothing is left: when what was taken has been read, or but for `kept`."""
        taken = {id(part.file) for part in kept}
        for file in [file for file in self.files if not file.offsets and id(file) not in taken]:
            self._close(file)

    def close(self) -> None:
        """Close all files."""
        for file in list(self.files):
            self._close(file)

    def _fill(self, count: int, taken: Sequence[FileRange]) -> int:
        """Open files, some at a time, where too few ranges are at hand; return how many it tried."""
        self.release(taken)
        have = sum(len(file.offsets) for file in self.files)
        room = min(MOST_OPEN - sum(bool(file.offsets) for file in self.files), count)
        # Of a large file there is enough; of different files all the same there should be some.
        if have >= count and len(self.files) >= FEWEST_OPEN:
            return 0
        paths = [self.paths.popleft() for _ in range(max(min(room, len(self.paths)), 0))]
        for opened in self.open_all(paths):
            self._take_in(opened)
        return len(paths)

    def _take_in(self, file: OpenFile | OSError) -> None:
        if isinstance(file, OSError):
            self.unreadable, self.error = self.unreadable + 1, file
            return
        self.files.append(file)
        if not file.size:
            return
        if self._is_blind(file):
            self.blind += 1
            return
        self.opened += 1
        ranges = -(-file.size // RANGE_BYTES)
        chosen = self.noise.sample(range(ranges), min(ranges, MOST_RANGES))
        file.offsets = [place * RANGE_BYTES for place in chosen]

    def _is_blind(self, file: OpenFile) -> bool:
        """Return whether nobody can tell a read of it from the page cache from one from storage."""
        return not file.direct and self.resident(file.handle, 0, 1) is None

    def _next_of(self, file: OpenFile) -> list[FileRange]:
        """Return a file's next range that is not in the page cache, if it has one."""
        while file.offsets:
            offset = file.offsets.pop()
            length = min(RANGE_BYTES, file.size - offset)
            resident = self.resident(file.handle, offset, length)
            if resident is not None:
                self.asked += 1
                self.cached += resident
            if not resident and not (file.sparse and _is_hole(file.handle, offset)):
                return [FileRange(file, offset, length)]
        return []

    def _close(self, file: OpenFile) -> None:
        self.files.remove(file)
        with suppress(OSError):
            os.close(file.handle)


def open_file(path: str, clock: Callable[[], float], *, direct: bool = True) -> OpenFile | OSError:
    """Open a file, past the page cache where that can be; return the error where it cannot be opened."""
    started = clock()
    try:
        handle, direct = _open_direct(path) if direct else (_open_buffered(path), False)
    except OSError as error:
        return error
    taken_s = clock() - started
    found = os.fstat(handle)
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    # Some file systems do not say how much of a file is there.
    sparse = 0 < found.st_blocks * BLOCK_BYTES < SPARSE * size
    return OpenFile(path, handle, direct, taken_s, size, sparse)


def _is_hole(handle: int, offset: int) -> bool:
    """Return whether storage has nothing at an offset."""
    try:
        return os.lseek(handle, offset, os.SEEK_DATA) != offset
    except OSError as error:
        return error.errno == errno.ENXIO


def _open_direct(path: str) -> tuple[int, bool]:
    """Open a file, and say whether its reads go past the page cache."""
    try:
        return os.open(path, FLAGS | os.O_DIRECT), True
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    return _open_buffered(path), False


def _open_buffered(path: str) -> int:
    handle = os.open(path, FLAGS)
    with suppress(OSError):
        # Else the kernel reads on, and what is read next comes from memory.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
    return handle
