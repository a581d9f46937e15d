"""What a job's input pipeline did: its calls by kind, file, queue depth and thread, and beside the steps.

Calls are added up block by block in order of start, so that a session may have more of them than memory
holds, and those who have them all in memory are told the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.ahead import read_ahead
from tfdarshan.analysis.calls.call_kinds import CallGroup, groups_of, kind_codes
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.queue_depth import depth_levels
from tfdarshan.analysis.calls.reader_count import ReaderCount, ThreadLives, count_readers, reading_span
from tfdarshan.analysis.calls.segments import Blocks, Segments, Thread
from tfdarshan.analysis.files.reading_times import ReadingTimes
from tfdarshan.analysis.steps.step_windows import StepWindows, parts_of_steps
from tfdarshan.analysis.storage.file_costs import CostSums, FileCosts
from tfdarshan.native.input_sums import (
    BUSY,
    CALLS,
    FIRST,
    LAST,
    NO_THREAD,
    Depths,
    InputCalls,
    InputTimes,
    chosen_input,
)
from tfdarshan.partials.beside import one_thread_beside

NOTHING = ReaderCount(1.0, 1.0, 1.0, 0.0)
Rows = Array | slice
Watch = Callable[[Segments, Rows, InputCalls], None]


@dataclass(frozen=True)
class InputPipeline:
    """Calls on input files between the first step's start and the last one's end; everywhere without steps.

    Attributes:
        made: How many there are.
        calls: Them by kind.
        costs: Them by file.
        levels: `depth_levels` of them but for what is read in pauses between steps, where waits are known:
            a validation set, at a pace of its own. Without steps of those from the first to the last call of
            threads that read much, so that start-up is left out.
        readers: Who made them.
        union_s: Wall-clock time with at least one of them running.
        overlap: Share of the compute time in which the pipeline worked.
        reading: When each file was read, None if none was.
    """

    made: int
    calls: dict[str, CallGroup]
    costs: FileCosts
    levels: pd.DataFrame
    readers: ReaderCount
    union_s: float
    overlap: float
    reading: ReadingTimes | None = None


def input_pipeline(
    blocks: Blocks,
    size_bytes: Array,
    is_input: Array,
    windows: StepWindows | None,
    is_loop: Callable[[Thread], bool] = lambda thread: False,
    watch: Watch | None = None,
) -> InputPipeline:
    """Look at the calls.

    Args:
        blocks: Gives the session's calls.
        size_bytes: Sizes of the files of the table they were loaded with, -1 if unknown.
        is_input: Which of these files are input.
        windows: The steps, None if there are none.
        is_loop: Says which thread runs the training loop.
        watch: Is told of each block, too, which of its calls count, and these.
    """
    sums = _Sums(size_bytes, windows, is_loop)
    # Calls have to be added up in order, but not by one thread: the next are read meanwhile, and files and
    # depths are added up beside all else. Neither Arrow nor the C core holds the interpreter's lock.
    with one_thread_beside() as begin, closing(read_ahead(blocks(), depth=1)) as read:
        for block in read:
            rows, calls = calls_on(block, is_input, windows)
            wait = begin(sums.add_beside, calls)
            sums.add(block, calls)
            if watch is not None:
                watch(block, rows, calls)
            wait()
    if windows is not None:
        return sums.pipeline(windows.span_ns)
    span_ns = reading_span(*sums.threads())
    if not sums.began_within(span_ns):
        sums.depths = _depths_within(span_ns, blocks, is_input)
    return sums.pipeline(span_ns)


def _depths_within(span_ns: tuple[int, int], blocks: Blocks, is_input: Array) -> Depths:
    """Look again at calls on input of a session without steps: at those that began within some time."""
    depths = Depths()
    for block in blocks():
        first, last = np.searchsorted(block.start_ns, span_ns).tolist()
        part = block.where(slice(first, last))
        depths.add(calls_on(part, is_input, None)[1])
    return depths


def input_calls(segments: Segments, is_input: Array, windows: StepWindows | None) -> tuple[Array, Array]:
    """Return the places of the calls that count, int32, and their kinds, `call_kinds.CALL_KINDS`."""
    first, last = 0, len(segments)
    if windows is not None:
        first, last = np.searchsorted(segments.start_ns, windows.span_ns).tolist()
    columns = (segments.operation, segments.file, segments.length, segments.error)
    within = slice(first, max(first, last))
    operation, file, length, error = (values[within] for values in columns)
    kinds = kind_codes(segments.operations)
    places, kind = chosen_input(kinds, is_input, (operation, file, length, error))
    return places + np.int32(first) if first else places, kind


def calls_on(block: Segments, is_input: Array, windows: StepWindows | None) -> tuple[Rows, InputCalls]:
    """Return which of a block's calls count, as `input_calls` says, and these."""
    places, kind = input_calls(block, is_input, windows)
    # Where all calls in a stretch are input, as is usual, nothing is copied.
    apart = len(places) == 0 or int(places[-1]) - int(places[0]) + 1 != len(places)
    rows = places if apart else slice(int(places[0]), int(places[-1]) + 1)
    start_ns, end_ns, length, file, thread = (
        values[rows] for values in (block.start_ns, block.end_ns, block.length, block.file, block.thread)
    )
    return rows, InputCalls(start_ns, end_ns, length, file, thread, kind)


def loop_of(block: Segments, is_loop: Callable[[Thread], bool]) -> int:
    """Return which of a block's threads runs the training loop, NO_THREAD if none does."""
    return next((place for place, found in enumerate(block.threads) if is_loop(found)), NO_THREAD)


class _Sums:
    """Adds up blocks of calls."""

    def __init__(
        self,
        size_bytes: Array,
        windows: StepWindows | None,
        is_loop: Callable[[Thread], bool],
    ) -> None:
        self._windows, self._is_loop = windows, is_loop
        self.costs, self.depths = CostSums(size_bytes), Depths()
        self._began_ns: tuple[int, int] | None = None
        parts = parts_of_steps(windows)
        waits, rests = (None, None) if parts is None else (part.columns for part in parts)
        self.times = InputTimes(waits, rests, None if windows is None else windows.waits)

    def add(self, block: Segments, calls: InputCalls) -> None:
        if not len(calls):
            return
        self.times.add(calls, len(block.threads), loop_of(block, self._is_loop))
        first, last = int(calls.start_ns[0]), int(calls.start_ns[-1])
        self._began_ns = (first if self._began_ns is None else self._began_ns[0], last)

    def add_beside(self, calls: InputCalls) -> None:
        """Add the same calls to the sums that `add` has no part in."""
        self.costs.add(calls)
        self.depths.add(self._of_steps(calls))

    def _of_steps(self, calls: InputCalls) -> InputCalls:
        """Return the calls without those in pauses: training stands still as long as they take."""
        windows = self._windows
        if windows is None or windows.waits is None or not len(windows.pauses[0]):
            return calls
        return calls.part(np.flatnonzero(windows.pause_of(calls.start_ns) < 0))

    def began_within(self, span_ns: tuple[int, int]) -> bool:
        """Return whether all calls began in some time."""
        began = self._began_ns
        return began is None or (span_ns[0] <= began[0] and began[1] < span_ns[1])

    def threads(self) -> tuple[Array, ThreadLives]:
        """Return each thread's time in calls, and when it made them."""
        rows = self.times.by_thread
        return rows[:, BUSY], ThreadLives(rows[:, FIRST], rows[:, LAST])

    def pipeline(self, span_ns: tuple[int, int]) -> InputPipeline:
        times, windows = self.times, self._windows
        made = int(times.by_kind[:, :, CALLS].sum())
        levels, readers, overlap = depth_levels(self.depths), NOTHING, 0.0
        if windows is not None:
            overlap = windows.overlap(times.in_waits_ns, times.in_rests_ns)
        if made:
            span_s = (span_ns[1] - span_ns[0]) / 1e9
            active_s = span_s if windows is None else windows.active_s(overlap)
            thread_ns, lives = self.threads()
            readers = count_readers(levels, thread_ns, active_s, lives)
        return InputPipeline(
            made, groups_of(times.by_kind), self.costs.costs(), levels, readers, times.union_ns / 1e9,
            overlap, self.costs.reading(),
        )  # fmt: skip
