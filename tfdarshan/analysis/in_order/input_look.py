"""What findings ask of calls on input, and of writes: added up in the look that measures the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.call_kinds import KIND
from tfdarshan.analysis.in_order.held_calls import HeldCalls, HeldSums
from tfdarshan.analysis.in_order.pause_calls import PauseCounts
from tfdarshan.analysis.in_order.read_pieces import ReadPieces
from tfdarshan.analysis.in_order.stored_calls import StoredCalls, StoredSums
from tfdarshan.analysis.in_order.thinned import Thinned
from tfdarshan.analysis.in_order.write_calls import WriteCalls
from tfdarshan.analysis.intervals import Array, Covered, covered
from tfdarshan.analysis.segments import Segments, Thread
from tfdarshan.analysis.step_windows import StepWindows

READ, OPEN, STAT = (KIND[name] for name in ("read", "open", "stat"))


@dataclass(frozen=True)
class AskedCalls:
    """Stats and opens of input: how many, and their durations added up in ns; float64 of shape (2, 2, 2).

    Places are: a stat (0) or an open (1); by another thread (0) or the loop's (1); of an open file (0) or by
    its name (1).
    """

    calls: Array
    lasted_ns: Array


@dataclass(frozen=True)
class InputFacts:
    """What was added up.

    Attributes:
        calls: All calls that have a segment.
        reads: Reads of input with data.
        loop_reads: Those of them that the training loop's thread made.
        placed_reads: Those that say where in the file (pread and the like), as TensorFlow's readers do.
        loop_in_waits_ns: Its time in calls on input within the waits of steps.
        asked: Stats and opens.
        sizes_and_times: A sample of the reads: bytes, and durations in ns.
        stored: What storage served.
        held: What took longer than storage is known to wait.
        pieces: In which order files are read.
        pauses: Calls within pauses between steps, None without such pauses.
        readers: Who made calls on input.
        writes: Writes and syncs.
    """

    calls: int
    reads: int
    loop_reads: int
    placed_reads: int
    loop_in_waits_ns: int
    asked: AskedCalls
    sizes_and_times: tuple[Array, Array]
    stored: StoredCalls
    held: HeldCalls
    pieces: ReadPieces
    pauses: PauseCounts | None
    readers: frozenset[Thread]
    writes: WriteCalls


class InputLook:
    """Looks at blocks of calls.

    Args:
        read_counts: How often each file was read at most; one entry per row of the file table.
        windows: The steps, None if there are none.
        is_loop: Says which thread runs the training loop.
        pass_bytes: What reading the input through once moves; None if that is not asked for.
    """

    def __init__(
        self,
        read_counts: Array,
        windows: StepWindows | None,
        is_loop: Callable[[Thread], bool],
        pass_bytes: float | None = None,
    ) -> None:
        self._is_loop = is_loop
        self._calls = self._reads = self._loop_reads = self._placed_reads = self._loop_in_waits_ns = 0
        self._asked = np.zeros((2, 8))
        self._sample, self._stored = Thinned(2), StoredSums(len(read_counts), pass_bytes)
        self._held = HeldSums()
        self._pieces, self._pauses = ReadPieces(read_counts), PauseCounts.between(windows, len(read_counts))
        self._waits = _waits(windows)
        self._readers: set[Thread] = set()
        self.writes = WriteCalls()

    def add(self, block: Segments, places: Array, kind: Array) -> None:
        """Adds a block.

        Args:
            block: Calls in order of start.
            places: Which of them are the pipeline's.
            kind: What these are, `call_kinds.CALL_KINDS`.
        """
        self._calls += len(block)
        self.writes.add(block)
        if not len(places):
            return
        rows = slice(None) if len(places) == len(block) else places
        file, thread, start, end = (
            values[rows] for values in (block.file, block.thread, block.start_ns, block.end_ns)
        )
        reads, lasted = kind == READ, end - start
        by_loop = np.isin(thread, self._loop_of(block))
        self._add_asked(kind, by_loop, _by_name(block)[block.operation[rows]], lasted)
        self._add_waits(by_loop, start, end)
        self._add_readers(block, thread)
        if self._pauses is not None:
            self._pauses.add(file, start)
        length = np.where(reads, block.length[rows], 0)
        self._stored.add(file, kind, length, start, end)
        self._held.add(file, kind, start, end)
        placed = np.array([one.name.startswith("pread") for one in block.operations] or [False])
        self._placed_reads += int(np.count_nonzero(placed[block.operation[rows]] & reads))
        self._add_reads(by_loop[reads], file[reads], block.offset[rows][reads], length[reads], lasted[reads])

    def facts(self) -> InputFacts:
        """Gives what was added up."""
        calls, lasted_ns = (sums.reshape(2, 2, 2) for sums in self._asked)
        length, taken_ns = self._sample.columns()
        return InputFacts(
            self._calls,
            self._reads,
            self._loop_reads,
            self._placed_reads,
            self._loop_in_waits_ns,
            AskedCalls(calls, lasted_ns),
            (length, taken_ns),
            self._stored.calls(),
            self._held.calls(),
            self._pieces,
            self._pauses,
            frozenset(self._readers),
            self.writes,
        )

    def _loop_of(self, block: Segments) -> list[int]:
        return [place for place, found in enumerate(block.threads) if self._is_loop(found)][:1]

    def _add_asked(self, kind: Array, by_loop: Array, by_name: Array, lasted: Array) -> None:
        rows = np.flatnonzero((kind == STAT) | (kind == OPEN))
        code = (kind[rows] == OPEN) * 4 + by_loop[rows] * 2 + by_name[rows]
        self._asked[0] += np.bincount(code, minlength=8)
        self._asked[1] += np.bincount(code, lasted[rows], minlength=8)

    def _add_waits(self, by_loop: Array, start: Array, end: Array) -> None:
        if self._waits is not None and by_loop.any():
            own = np.flatnonzero(by_loop)
            self._loop_in_waits_ns += int(self._waits.within(start[own], end[own]).sum())

    def _add_readers(self, block: Segments, thread: Array) -> None:
        if len(self._readers) < len(block.threads):
            made = np.bincount(thread, minlength=len(block.threads))
            self._readers.update(block.threads[place] for place in np.flatnonzero(made).tolist())

    def _add_reads(self, by_loop: Array, file: Array, offset: Array, length: Array, lasted: Array) -> None:
        self._reads += len(file)
        self._loop_reads += int(np.count_nonzero(by_loop))
        self._sample.add(length, lasted)
        self._pieces.add(file, offset, length, lasted)


def _by_name(block: Segments) -> Array:
    """Says which kinds of call ask about a file by its name."""
    return np.array([operation.name == "stat" for operation in block.operations] or [False])


def _waits(windows: StepWindows | None) -> Covered | None:
    if windows is None or windows.wait_end_ns is None:
        return None
    return covered(windows.start_ns, windows.wait_end_ns)
