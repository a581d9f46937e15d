"""First reading against later ones: what the page cache made of the second epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfdarshan.analysis.counted_values import CountedValues, NamedCounts, counted, merged_counts
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array, RunningUnion, group_order
from tfdarshan.analysis.segments import META, READ, Segments
from tfdarshan.native.call_sums import DURATION_CELLS, Calls, duration_cells

MOST_PASSES = 100
Blocks = Callable[[], Iterator[Segments]]


def read_passes(blocks: Blocks, files: FileTable) -> pd.DataFrame:
    """Splits the reads into passes over each file: a read is of pass n + 1 after n times the file's size.

    Reads of nothing and of files of unknown size are left out. An epoch that reads all files whole is a pass.

    Args:
        blocks: Gives the session's calls in order of start, block by block, each time that it is called.
        files: The files of the table that they were loaded with.

    Returns:
        One row per pass, from 1: `read_pass`, `files`, `reads`, `bytes`, `read_ns` (wall clock: at least one
        such read was running), `thread_ns` (summed over threads), `median_ns` of a read, all int64;
        `bytes_per_s` (float64), bytes over `thread_ns`: what one thread got. Passes beyond 100 are one.
    """
    passes = [_Pass() for _ in range(MOST_PASSES)]
    for reads in _numbered(blocks, files):
        for number in reads.numbers:
            passes[number].add(reads, number)
    middles = _middles(passes, blocks, files)
    rows = [
        (place + 1, *found.figures(), middles[place], found.bytes_per_s)
        for place, found in enumerate(passes)
        if found.reads
    ]
    names = ["read_pass", "files", "reads", "bytes", "read_ns", "thread_ns", "median_ns", "bytes_per_s"]
    return pd.DataFrame(rows, columns=names)


@dataclass(frozen=True)
class _Reads:
    """Reads of a block in order of start: times in ns, bytes, each one's pass, a cell of its duration.

    `first` says which are the first read of their file and pass.
    """

    start_ns: Array
    end_ns: Array
    length: Array
    number: Array
    first: Array
    cell: Array

    @property
    def numbers(self) -> list[int]:
        """The passes that they are of."""
        return [int(number) for number in np.flatnonzero(np.bincount(self.number))]


class _Numbering:
    """Numbers the passes of calls that come block by block."""

    def __init__(self, files: FileTable) -> None:
        self._size = np.maximum(files.rows["size_bytes"].to_numpy(), 0)
        self._read = np.zeros(len(self._size), np.int64)
        self._last = np.full(len(self._size), -1, np.int8)

    def numbered(self, block: Segments) -> tuple[Array, Array, Array]:
        """Gives the places of the reads that count, file by file; each one's pass; which begin one."""
        size = self._size
        chosen = np.flatnonzero((block.io_class == READ) & (block.length > 0) & (size[block.file] > 0))
        chosen = chosen[group_order(block.file[chosen], len(size))]
        file, length = block.file[chosen], block.length[chosen]
        before = np.cumsum(length) - length
        heads = np.flatnonzero(np.concatenate([[True], file[1:] != file[:-1]]))[: len(file)]
        before -= np.repeat(before[heads] - self._read[file[heads]], np.diff(np.append(heads, len(file))))
        number = np.minimum(before // size[file], MOST_PASSES - 1).astype(np.int8)
        tails = np.append(heads[1:], len(file))[: len(heads)] - 1
        first = np.ones(len(file), bool)
        first[1:] = (file[1:] != file[:-1]) | (number[1:] != number[:-1])
        first[heads] = number[heads] != self._last[file[heads]]
        self._read[file[tails]] = before[tails] + length[tails]
        self._last[file[tails]] = number[tails]
        return chosen, number.astype(np.uint8), first


def _numbered(blocks: Blocks, files: FileTable) -> Iterator[_Reads]:
    numbering = _Numbering(files)
    for block in blocks():
        chosen, number, first = numbering.numbered(block)
        order = np.argsort(chosen)
        places, number = chosen[order], number[order]
        start, end, length = (values[places] for values in (block.start_ns, block.end_ns, block.length))
        calls = Calls(start, end, length, np.full(len(start), META))
        cell = duration_cells(calls, number, np.zeros(len(start), np.int16)) % DURATION_CELLS
        yield _Reads(start, end, length, number, first[order], cell)


@dataclass
class _Pass:
    """Sums over the reads of a pass."""

    files: int = 0
    reads: int = 0
    moved: int = 0
    thread_ns: int = 0
    union: RunningUnion = field(default_factory=RunningUnion)
    cells: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, block: _Reads, number: int) -> None:
        """Adds those of a block."""
        chosen = np.flatnonzero(block.number == number)
        start, end = block.start_ns[chosen], block.end_ns[chosen]
        self.files += int(np.count_nonzero(block.first[chosen]))
        self.reads += len(chosen)
        self.moved += int(block.length[chosen].sum())
        self.thread_ns += int((end - start).sum())
        self.union.add(start, end)
        if not len(self.cells):
            self.cells = np.zeros(DURATION_CELLS, np.int64)
        self.cells += np.bincount(block.cell[chosen], minlength=DURATION_CELLS)

    def figures(self) -> tuple[int, ...]:
        """Gives files, reads, bytes, and ns of the union and of threads."""
        return self.files, self.reads, self.moved, self.union.sum_ns, self.thread_ns

    @property
    def bytes_per_s(self) -> float:
        """Gives what one thread got."""
        return self.moved / (self.thread_ns / 1e9) if self.thread_ns else 0.0

    def middles(self) -> list[tuple[int, int]]:
        """Gives the cells of the one or two durations in the middle, and the rank of each within its cell."""
        used = np.flatnonzero(self.cells)
        counts = CountedValues(used, self.cells[used])
        found = [(rank, *counts.at_rank(rank)) for rank in ((self.reads - 1) // 2, self.reads // 2)]
        return [(cell, rank - before) for rank, cell, before in found]


def _middles(passes: list[_Pass], blocks: Blocks, files: FileTable) -> list[int]:
    """Gives the median duration of each pass, in ns: a second look at the reads that are nearly as long."""
    wanted = {place: found.middles() for place, found in enumerate(passes) if found.reads}
    is_wanted = np.zeros((MOST_PASSES, DURATION_CELLS), bool)
    for place, cells in wanted.items():
        is_wanted[place, [cell for cell, _ in cells]] = True
    counts: NamedCounts = {}
    for reads in _numbered(blocks, files) if wanted else ():
        chosen = np.flatnonzero(is_wanted[reads.number, reads.cell])
        taken = reads.end_ns[chosen] - reads.start_ns[chosen]
        name = reads.number[chosen].astype(np.int64) * DURATION_CELLS + reads.cell[chosen]
        found = {key: counted(taken[name == key]) for key in np.unique(name).tolist()}
        counts = merged_counts(counts, found)
    middles = [0] * MOST_PASSES
    for place, cells in wanted.items():
        ns = [counts[place * DURATION_CELLS + cell].at_rank(rank)[0] for cell, rank in cells]
        middles[place] = int(sum(ns) / 2)
    return middles
