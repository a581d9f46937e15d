"""What a job's input pipeline did: its calls by kind, file, queue depth and thread, and beside the steps.

Calls are added up block by block in order of start, so that a session may have more of them than memory
holds, and those who have them all in memory are told the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.call_kinds import KIND, CallGroup, CallSums, kinds_of
from tfdarshan.analysis.depth_levels import DepthSums
from tfdarshan.analysis.file_costs import CostSums, FileCosts
from tfdarshan.analysis.intervals import Array, RunningUnion
from tfdarshan.analysis.reader_count import ReaderCount, ThreadLives, count_readers, reading_span
from tfdarshan.analysis.reading_times import ReadingClock, ReadingTimes
from tfdarshan.analysis.segments import Segments, Thread
from tfdarshan.analysis.step_windows import StepWindows, WorkBesideSteps
from tfdarshan.analysis.storage_passes import PassSample

NOTHING = ReaderCount(1.0, 1.0, 1.0, 0.0)
WRITING = (KIND["write"], KIND["sync"])
Blocks = Callable[[], Iterator[Segments]]
Watch = Callable[[Segments, Array, Array], None]


@dataclass(frozen=True)
class InputPipeline:
    """Calls on input files between the first step's start and the last one's end; everywhere without steps.

    Attributes:
        made: How many there are.
        calls: Them by kind.
        costs: Them by file.
        levels: `depth_levels` of them; without steps of those from the first to the last call of threads that
            read much, so that start-up is left out.
        readers: Who made them.
        union_s: Wall-clock time with at least one of them running.
        overlap: Share of the compute time in which the pipeline worked.
        sample: Some of the passes that storage served.
        reading: When each file was read, None if none was.
        in_waits_ns: The calls' time within the waits of steps, added up.
    """

    made: int
    calls: dict[str, CallGroup]
    costs: FileCosts
    levels: pd.DataFrame
    readers: ReaderCount
    union_s: float
    overlap: float
    sample: PassSample
    reading: ReadingTimes | None = None
    in_waits_ns: int = 0


def input_pipeline(
    blocks: Blocks,
    size_bytes: Array,
    is_input: Array,
    windows: StepWindows | None,
    is_loop: Callable[[Thread], bool] = lambda thread: False,
    watch: Watch | None = None,
) -> InputPipeline:
    """Looks at the calls.

    Args:
        blocks: Gives the session's calls in order of start, block by block, each time that it is called.
        size_bytes: Sizes of the files of the table they were loaded with, -1 if unknown.
        is_input: Which of these files are input.
        windows: The steps, None if there are none.
        is_loop: Says which thread runs the training loop.
        watch: Is told of each block, too, and which of its calls count, as `input_calls` gives them.
    """
    if windows is not None:
        span_ns = windows.span_ns
    else:
        threads = _Threads()
        for block in blocks():
            places, _ = input_calls(block, is_input, None)
            threads.add(block, places)
        span_ns = reading_span(threads.busy_ns, threads.lives)
    sums = _Sums(size_bytes, windows, span_ns, is_loop)
    # Files are added up beside all else: NumPy sorts with the interpreter's lock released.
    with ThreadPoolExecutor(1) as pool:
        for block in blocks():
            places, kind = input_calls(block, is_input, windows)
            if watch is not None:
                watch(block, places, kind)
            sums.add(block, places, kind, pool)
    return sums.pipeline()


def input_calls(segments: Segments, is_input: Array, windows: StepWindows | None) -> tuple[Array, Array]:
    """Gives the places of the calls that count, int32, and their kinds, `call_kinds.CALL_KINDS`."""
    kind = kinds_of(segments)
    mask = is_input[segments.file] & (kind != WRITING[0]) & (kind != WRITING[1])
    if windows is not None:
        first, last = np.searchsorted(segments.start_ns, windows.span_ns).tolist()
        mask[:first] = False
        mask[last:] = False
    places = np.flatnonzero(mask).astype(np.int32)
    return places, kind if len(places) == len(kind) else kind[places]


class _Threads:
    """Adds up the calls of each thread: the time in them, and when the first began and the last ended."""

    def __init__(self) -> None:
        self.busy_ns = np.zeros(0, np.int64)
        self._first = np.zeros(0, np.int64)
        self._last = np.zeros(0, np.int64)

    @property
    def lives(self) -> ThreadLives:
        return ThreadLives(self._first, self._last)

    def add(self, block: Segments, places: Array) -> None:
        more = max(0, len(block.threads) - len(self.busy_ns))
        self.busy_ns = np.append(self.busy_ns, np.zeros(more, np.int64))
        self._first = np.append(self._first, np.full(more, np.iinfo(np.int64).max))
        self._last = np.append(self._last, np.zeros(more, np.int64))
        thread, start, end = (values[places] for values in (block.thread, block.start_ns, block.end_ns))
        np.add.at(self.busy_ns, thread, end - start)
        np.minimum.at(self._first, thread, start)
        np.maximum.at(self._last, thread, end)


class _Sums:
    """Adds up blocks of calls."""

    def __init__(
        self,
        size_bytes: Array,
        windows: StepWindows | None,
        span_ns: tuple[int, int],
        is_loop: Callable[[Thread], bool],
    ) -> None:
        self._windows, self._span_ns, self._is_loop = windows, span_ns, is_loop
        self._made, self._calls, self._costs = 0, CallSums(), CostSums(size_bytes)
        self._depths, self._union, self._threads = DepthSums(), RunningUnion(), _Threads()
        self._beside, self._reading = WorkBesideSteps(windows), ReadingClock(len(size_bytes))

    def add(self, block: Segments, places: Array, kind: Array, pool: ThreadPoolExecutor) -> None:
        if not len(places):
            return
        # Where all calls are input, as is usual, nothing is copied.
        rows = slice(None) if len(places) == len(block) else places
        start, end, length = block.start_ns[rows], block.end_ns[rows], block.length[rows]
        thread = block.thread[rows]
        self._made += len(places)
        self._calls.add(kind, end - start, length, self._in_the_way(block, thread, start))
        costs = pool.submit(self._costs.add, block.file[rows], thread, kind, length, (start, end))
        self._union.add(start, end)
        self._beside.add(start, end)
        self._threads.add(block, places)
        first, last = np.searchsorted(start, self._span_ns).tolist()
        reads = kind == KIND["read"]
        self._reading.add(block.file[rows][reads], start[reads], end[reads])
        moved = np.where(reads, length, 0)
        self._depths.add(start[first:last], end[first:last], moved[first:last])
        costs.result()

    def _in_the_way(self, block: Segments, thread: Array, start: Array) -> Array:
        """Says which calls the training loop's thread made, but not while it waited for input."""
        loop = [place for place, found in enumerate(block.threads) if self._is_loop(found)][:1]
        within: Array = np.isin(thread, loop)
        if self._windows is not None and within.any():
            own = np.flatnonzero(within)
            within[own] = ~self._windows.waiting(start[own])
        return within

    def pipeline(self) -> InputPipeline:
        levels, overlap = self._depths.levels(), self._beside.overlap()
        readers = NOTHING
        if self._made:
            span_s = (self._span_ns[1] - self._span_ns[0]) / 1e9
            active_s = span_s if self._windows is None else self._windows.active_s(overlap)
            readers = count_readers(levels, self._threads.busy_ns, active_s, self._threads.lives)
        costs, sample = self._costs.costs()
        return InputPipeline(
            self._made,
            self._calls.groups(),
            costs,
            levels,
            readers,
            self._union.sum_ns / 1e9,
            overlap,
            sample,
            self._reading.times(),
            self._beside.in_waits_ns,
        )
