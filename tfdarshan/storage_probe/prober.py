"""Reads a little of some files with 1 to 16 readers at a time, and notes what each read took."""

from __future__ import annotations

import errno
import mmap
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from tfdarshan.errors import ConfigurationError
from tfdarshan.native.residency import is_resident
from tfdarshan.storage_probe.file_ranges import RANGE_BYTES, FileRange, OpenFile, Ranges, open_file
from tfdarshan.storage_probe.reader_threads import ReaderThreads
from tfdarshan.thresholds import THRESHOLD

SMALL_BYTES = 4_096
SECONDS, BYTES = 5.0, 64_000_000
MOST_SECONDS, LEAST_BYTES = 3600, 1_000_000
# Readers at a time, and how many reads they make in a round: some each, and not too many of all.
DEPTHS = {1: 16, 2: 16, 4: 16, 8: 24, 16: 32}
# Once it has lasted so long, a cell ends with so many reads, or with two of each reader.
CELL_S = 0.25
LEAST_READS = int(THRESHOLD["few"])
# Storage that lends, such as a throttled volume, gives what it saved up at full speed: that is spent first.
# Where the second half of these reads takes so many times as long as the first, it was, and they go on.
WARM_READERS, WARM_READS = 16, 32
MOST_WARMINGS = 3
SPENT = 1 + THRESHOLD["clearly"]
# With less to read than this, all of it is compared.
FEW_RANGES = 256
# What is worth most comes first, in case the time is short.
FIRST_ROUND = (1, 16, 4, 8, 2)
# From this part of its bytes on a probe makes small reads alone, with pauses: it is to see other times, too.
LARGE_PART = THRESHOLD["most"]
# Opens that are made alone, and what of its time they may take.
FEWEST_OPENS, OPENING = THRESHOLD["few"], THRESHOLD["hardly"]
PAUSE_S = 0.1


@dataclass(frozen=True)
class Bounds:
    """The most that a probe takes.

    Raises:
        ConfigurationError: It is nothing.
    """

    seconds: float = SECONDS
    most_bytes: int = BYTES

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= MOST_SECONDS:
            raise ConfigurationError(f"a probe takes up to 3,600 s, and more than 0, not {self.seconds:g}.")
        if self.most_bytes < LEAST_BYTES:
            raise ConfigurationError(f"a probe reads 1 MB at least, not {self.most_bytes:,} B.")


@dataclass(frozen=True)
class Read:
    """A read: when, of which file, how much it gave, and why nothing (an errno)."""

    start_s: float
    end_s: float
    path: str
    moved: int
    error: int = 0


@dataclass(frozen=True)
class Cell:
    """The reads of one size by so many readers, one round's.

    Attributes:
        turn: The number of the round.
        small: Whether they were small.
        readers: How many readers there were.
        reads: Those that succeeded.
        own_s: What such a call takes with nothing to wait for: the probe's own work.
    """

    turn: int
    small: bool
    readers: int
    reads: tuple[Read, ...]
    own_s: float = 0.0

    @property
    def call_s(self) -> float:
        """What a call took while so many were under way, mean."""
        span_s = max(read.end_s for read in self.reads) - min(read.start_s for read in self.reads)
        return span_s * self.readers / len(self.reads)

    def call_s_without(self, slow: Collection[str]) -> float:
        """Return the same of all but slow files: a cell lasts as long as these do."""
        others = [read.end_s - read.start_s for read in self.reads if read.path not in slow]
        return self.call_s if len(others) in (0, len(self.reads)) else sum(others) / len(others)

    @property
    def mean_bytes(self) -> float:
        """Bytes of a read, mean."""
        return sum(read.moved for read in self.reads) / len(self.reads)


@dataclass
class Probing:
    """What a probe saw."""

    cells: list[Cell] = field(default_factory=list)
    open_s: list[float] = field(default_factory=list)
    seconds: float = 0.0
    moved: int = 0
    direct: bool = True
    idle: bool = True
    asked: int = 0
    cached: int = 0
    opened: int = 0
    unreadable: int = 0
    blind: int = 0
    error: OSError | None = None


# Reads so much of a range, and gives the bytes it got.
ReadRange = Callable[[FileRange, int], int]


def probe_files(
    paths: Iterable[str],
    bounds: Bounds,
    noise: random.Random,
    *,
    clock: Callable[[], float] = time.perf_counter,
    resident: Callable[[int, int, int], bool | None] = is_resident,
    read: ReadRange | None = None,
) -> Probing:
    """Read ranges of the files that are not in the page cache, each once, until a bound is reached.

    Args:
        paths: The files, in random order.
        bounds: Seconds and bytes.
        noise: Chooses.
        clock: Seconds.
        resident: Says whether a range is in the page cache; a test gives its own, as it does `read`.
        read: How a range is read.

    Raises:
        StorageError: A call hangs.
    """
    with ReaderThreads(max(DEPTHS)) as threads:
        prober = _Prober(bounds, noise, clock, threads, read or read_range)
        ranges = Ranges(deque(paths), noise, clock, prober.open_all, resident)
        memory = _in_memory()
        try:
            prober.go(ranges, memory)
        finally:
            # A read that hangs keeps its descriptor, and its thread.
            ranges.close()
            os.close(memory.handle)
        found = prober.found
        found.idle = threads.idle
    found.asked, found.cached, found.opened = ranges.asked, ranges.cached, ranges.opened
    found.unreadable, found.blind, found.error = ranges.unreadable, ranges.blind, ranges.error
    return found


class _Prober:
    def __init__(
        self,
        bounds: Bounds,
        noise: random.Random,
        clock: Callable[[], float],
        threads: ReaderThreads,
        read: ReadRange,
    ) -> None:
        self.noise, self.clock, self.threads, self.read = noise, clock, threads, read
        self.most_bytes = bounds.most_bytes
        self.started = clock()
        self.until = self.started + bounds.seconds
        self.direct = True
        self.sleep = time.sleep
        self.found = Probing()

    def go(self, ranges: Ranges, memory: OpenFile) -> None:
        """Go on round after round, until there is no time, no budget or no range left."""
        self._try_direct(ranges)
        for turn in count():
            plan = self._plan(turn)
            for small in {small for _, small in plan}:
                self._warm_up(small, ranges)
            for readers, small in plan:
                if not self._cell(turn, readers, small, ranges, memory):
                    self.found.seconds = self.clock() - self.started
                    return

    def open_all(self, paths: Sequence[str]) -> list[OpenFile | OSError]:
        """Open files: the first ones alone, for that is what an open takes, the others side by side."""

        def opened_at(path: str) -> OpenFile | OSError:
            return open_file(path, self.clock, direct=self.direct)

        left, opened = list(paths), []
        while left and self._opens_alone():
            one = self.threads.run(opened_at, [left.pop(0)], 1, self.until, self.clock)
            self.found.open_s += [file.open_s for file in one if isinstance(file, OpenFile)]
            opened += one
        return opened + self.threads.run(opened_at, left, max(DEPTHS), self.until, self.clock)

    def _opens_alone(self) -> bool:
        enough = len(self.found.open_s) >= FEWEST_OPENS
        return not enough and self.clock() < self.started + OPENING * (self.until - self.started)

    def _try_direct(self, ranges: Ranges) -> None:
        """Read once, as some file systems take O_DIRECT at the open and refuse it at the read."""
        parts = ranges.take(1, self.until)
        self._leave_direct(self._reads(parts, 1, SMALL_BYTES), ranges)

    def _leave_direct(self, reads: Sequence[Read], ranges: Ranges) -> bool:
        """Go on through the page cache if O_DIRECT was refused; say whether it was."""
        if not self.direct or not any(read.error == errno.EINVAL for read in reads):
            return False
        self.direct = False
        ranges.leave_direct()
        return True

    def _plan(self, turn: int) -> list[tuple[int, bool]]:
        """Return the cells of a round: numbers of readers, and whether their reads are small."""
        large_bytes = (WARM_READS + sum(DEPTHS.values())) * RANGE_BYTES
        only_small = turn > 0 and self.found.moved + large_bytes > LARGE_PART * self.most_bytes
        plan = [
            (readers, small) for readers in FIRST_ROUND for small in (True, False) if small or not only_small
        ]
        if turn:
            self.noise.shuffle(plan)
        if only_small:
            self.sleep(min(PAUSE_S, max(self.until - self.clock(), 0.0)))
        return plan

    def _warm_up(self, small: bool, ranges: Ranges) -> None:
        """Spend what storage lends: reads that are not compared, until they get no slower."""
        size = SMALL_BYTES if small else RANGE_BYTES
        for _ in range(MOST_WARMINGS):
            if ranges.left < FEW_RANGES:
                return
            room = (self.most_bytes - self.found.moved) // (2 * size)
            parts = ranges.take(min(WARM_READS, room), self.until)
            reads = self._reads(parts, WARM_READERS, size, least=0)
            self._settle(parts, reads, ranges)
            ends = sorted(read.end_s for read in reads)
            if len(ends) < WARM_READS:
                return
            began = min(read.start_s for read in reads)
            half = ends[len(ends) // 2 - 1]
            if ends[-1] - half < SPENT * (half - began):
                return

    def _settle(self, parts: Sequence[FileRange], reads: Sequence[Read], ranges: Ranges) -> None:
        """Count reads, give back ranges that were not read, and close files of which nothing is left."""
        self.found.moved += sum(read.moved for read in reads)
        ranges.give_back(parts[len(reads) :])
        ranges.leave_out({read.path for read in reads if read.error and read.error != errno.EINVAL})
        ranges.release()

    def _cell(self, turn: int, readers: int, small: bool, ranges: Ranges, memory: OpenFile) -> bool:
        """Make the reads of a cell; say whether it is worth going on."""
        size = SMALL_BYTES if small else RANGE_BYTES
        room = (self.most_bytes - self.found.moved) // size
        wanted = min(DEPTHS[readers], room)
        parts = ranges.take(wanted, self.until)
        if parts:
            own = self._reads([FileRange(memory, 0, size)] * len(parts), readers, size, by=read_range)
            reads = self._reads(parts, readers, size, least=max(2 * readers, LEAST_READS))
            direct = all(part.file.direct for part in parts)
            self._settle(parts, reads, ranges)
            if self._leave_direct(reads, ranges):
                return self._cell(turn, readers, small, ranges, memory)
            self._note(Cell(turn, small, readers, tuple(read for read in reads if read.moved > 0)), own)
            self.found.direct &= direct
        return len(parts) == DEPTHS[readers] and self.clock() < self.until

    def _note(self, cell: Cell, own: Sequence[Read]) -> None:
        """Keep a cell; with fewer reads than two each, fewer were under way than was meant."""
        if len(cell.reads) >= max(2 * cell.readers, LEAST_READS // 2) and own:
            self.found.cells.append(replace(cell, own_s=replace(cell, reads=tuple(own)).call_s))

    def _reads(
        self,
        parts: Sequence[FileRange],
        readers: int,
        size: int,
        *,
        by: ReadRange | None = None,
        least: int | None = None,
    ) -> list[Read]:
        """Read parts; only `least` of them, from the first on, if these take long."""
        read = by or self.read

        def timed(part: FileRange) -> Read:
            start_s = self.clock()
            moved, number = 0, 0
            try:
                moved = read(part, min(size, part.length))
            except OSError as error:
                number = error.errno or errno.EIO
            return Read(start_s, self.clock(), part.file.path, moved, number)

        enough = None if least is None else (least, CELL_S)
        return self.threads.run(timed, parts, readers, self.until, self.clock, enough)


_buffers = threading.local()


def read_range(part: FileRange, length: int) -> int:
    """Read the first bytes of a range by one call into memory that is aligned, as O_DIRECT wants it.

    Raises:
        OSError: It cannot be read.
    """
    if not hasattr(_buffers, "whole"):
        _buffers.whole = mmap.mmap(-1, RANGE_BYTES)
    aligned = -(-length // SMALL_BYTES) * SMALL_BYTES
    with memoryview(_buffers.whole)[:aligned] as buffer:
        return os.preadv(part.file.handle, [buffer], part.offset)


def _in_memory() -> OpenFile:
    """Return a file whose reads take what the probe takes by itself."""
    handle = os.memfd_create("tfdarshan-probe", os.MFD_CLOEXEC)
    os.write(handle, bytes(RANGE_BYTES))
    return OpenFile("", handle, False, 0.0, RANGE_BYTES)
