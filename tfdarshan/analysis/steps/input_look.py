"""What findings ask of calls on input, and of writes: added up in the look that measures the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.read_pieces import ScatteredReads, read_order, scattered_reads
from tfdarshan.analysis.calls.segments import Blocks, Segments, Thread
from tfdarshan.analysis.calls.thinned import Thinned
from tfdarshan.analysis.calls.throttled_calls import HELD_NS, HeldCalls, HeldSums
from tfdarshan.analysis.calls.write_calls import KeptWrites, WriteCalls
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.steps.input_pipeline import (
    InputPipeline,
    Rows,
    calls_on,
    input_pipeline,
    loop_of,
)
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.storage.stored_calls import StoredCalls, StoredSums
from tfdarshan.native.input_sums import NO_THREAD, InputCalls

READ, OPEN, STAT, FSTAT = (KIND[name] for name in ("read", "open", "stat", "fstat"))


@dataclass(frozen=True)
class InputFacts:
    """What was added up.

    Attributes:
        calls: All calls that have a segment.
        reads: Reads of input with data.
        loop_reads: Those of them that the training loop's thread made.
        placed_reads: Those that say where in the file (pread and the like), as TensorFlow's readers do.
        asked: How many stats (0) and opens (1) there are; by another thread (0) or the loop's (1); of an open
            file (0) or by its name (1). float64 of shape (2, 2, 2).
        sizes_and_times: A sample of the reads: bytes, and durations in ns.
        stored: What storage served.
        held: What took longer than storage is known to wait, and what took longer than most storage does.
        scattered: Reads of files that are read out of order.
        readers: Who made calls on input.
        writes: Writes and syncs.
    """

    calls: int
    reads: int
    loop_reads: int
    placed_reads: int
    asked: Array
    sizes_and_times: tuple[Array, Array]
    stored: StoredCalls
    held: tuple[HeldCalls, ...]
    scattered: ScatteredReads
    readers: frozenset[Thread]
    writes: WriteCalls


class InputLook:
    """Looks at blocks of calls.

    Args:
        read_counts: How often each file was read at most; one entry per row of the file table.
        sizes: Their sizes, -1 where unknown.
        windows: The steps, None if there are none.
        is_loop: Says which thread runs the training loop.
        pass_bytes: What reading the input through once moves; None if that is not asked for.
        beside: Which rows are input, and which are files that the job made itself: calls on these are no
            input's, but show what storage bears.
    """

    def __init__(
        self,
        read_counts: Array,
        sizes: Array,
        windows: StepWindows | None,
        is_loop: Callable[[Thread], bool],
        pass_bytes: float | None = None,
        beside: tuple[Array, Array] | None = None,
    ) -> None:
        self._is_loop, self._windows, self._seen = is_loop, windows, beside
        self._calls = self._reads = self._loop_reads = self._placed_reads = 0
        self._asked = np.zeros(8)
        self._sample, self._stored = Thinned(2), StoredSums(len(read_counts), pass_bytes)
        self._held = [HeldSums(least_ns) for least_ns in HELD_NS]
        self._order, self._sizes = read_order(read_counts), sizes
        self._readers: set[Thread] = set()
        self._writes = KeptWrites()

    def add(self, block: Segments, rows: Rows, calls: InputCalls) -> None:
        """Add a block.

        Args:
            block: Calls in order of start.
            rows: Which of them are the pipeline's.
            calls: These.
        """
        self._calls += len(block)
        self._writes.add(block)
        if not len(calls):
            return
        loop = loop_of(block, self._is_loop)
        self._add_asked(calls, loop)
        self._add_readers(block, calls.thread)
        self._stored.add(calls, self._beside(block))
        for held in self._held:
            held.add(calls.file, calls.kind, calls.start_ns, calls.end_ns, calls.length)
        self._order.add(calls, block.offset[rows])
        reads = np.flatnonzero(calls.kind == READ)
        self._reads += len(reads)
        self._placed_reads += int(np.count_nonzero(_placed(block)[block.operation[rows][reads]]))
        if loop != NO_THREAD:
            self._loop_reads += int(np.count_nonzero(calls.thread[reads] == loop))
        sampled = reads[self._sample.next_rows()]
        lasted_ns = calls.end_ns[sampled] - calls.start_ns[sampled]
        self._sample.add_kept(len(reads), calls.length[sampled], lasted_ns)

    def _beside(self, block: Segments) -> InputCalls | None:
        """Return a block's calls on input and on the job's own files; None if none are of the latter."""
        if self._seen is None or not self._seen[1][block.file].any():
            return None
        is_input, own = self._seen
        return calls_on(block, is_input | own, self._windows)[1]

    def facts(self) -> InputFacts:
        """Return what was added up."""
        length, taken_ns = self._sample.columns()
        return InputFacts(
            self._calls,
            self._reads,
            self._loop_reads,
            self._placed_reads,
            self._asked.reshape(2, 2, 2),
            (length, taken_ns),
            self._stored.calls(),
            tuple(held.calls() for held in self._held),
            scattered_reads(self._order.sums, self._sizes),
            frozenset(self._readers),
            self._writes.calls(),
        )

    def _add_asked(self, calls: InputCalls, loop: int) -> None:
        rows = np.flatnonzero(np.isin(calls.kind, [STAT, FSTAT, OPEN]))
        by_loop, by_name = calls.thread[rows] == loop, calls.kind[rows] == STAT
        code = (calls.kind[rows] == OPEN) * 4 + by_loop * 2 + by_name
        self._asked += np.bincount(code, minlength=8)

    def _add_readers(self, block: Segments, thread: Array) -> None:
        if len(self._readers) < len(block.threads):
            made = np.bincount(thread, minlength=len(block.threads))
            self._readers.update(block.threads[place] for place in np.flatnonzero(made).tolist())


def look_at_input(
    blocks: Blocks,
    files: FileTable,
    is_input: Array,
    windows: StepWindows | None,
    is_loop: Callable[[Thread], bool],
    pass_bytes: float | None = None,
    own: Array | None = None,
) -> tuple[InputPipeline, InputFacts]:
    """Look at all calls once.

    Args:
        blocks: The calls in order of start.
        files: The session's file table.
        is_input: Which of its rows are input.
        windows: The steps, None if there are none.
        is_loop: Whether a thread runs the training loop.
        pass_bytes: What reading the input through once moves; None if that is not asked for.
        own: Which files the job made itself; None without any.
    """
    size, counts = (files.rows[name].to_numpy() for name in ("size_bytes", "reads"))
    beside = None if own is None else (is_input, own)
    look = InputLook(counts, size, windows, is_loop, pass_bytes, beside)
    pipeline = input_pipeline(blocks, size, is_input, windows, is_loop, look.add)
    return pipeline, look.facts()


def _placed(block: Segments) -> Array:
    """Return which kinds of call say where in the file."""
    return np.array([operation.name.startswith("pread") for operation in block.operations] or [False])
