"""How many readers a session has, counted with no more of its calls in memory than a few row groups.

The definition is that of findings, `reader_count`: the queue depth of the calls tells. Files are not told
apart here, as that takes a table of all of them; where steps were recorded their time is looked at, else the
time between the first and the last call of threads that read much, so that start-up is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.activity import overview_parts
from tfdarshan.analysis.depth_levels import DepthSums
from tfdarshan.analysis.intervals import Array, Covered, covered
from tfdarshan.analysis.merged_calls import in_order
from tfdarshan.analysis.reader_count import ThreadLives, count_readers, threads_at_a_time
from tfdarshan.analysis.step_windows import StepWindows
from tfdarshan.native import _bridge
from tfdarshan.sessions.process_data import ProcessData

COLUMNS = ("start_ns", "end_ns", "length", "operation")
# A thread that reads a smaller part of what the busiest one does says nothing about when input was read.
READS_MUCH = 0.1


@dataclass(frozen=True)
class ReadingThreads:
    """Threads that made other calls than writes: the time in these, and when they were; one entry each."""

    busy_ns: Array
    lives: ThreadLives

    @property
    def span_ns(self) -> tuple[int, int]:
        """From the first call to the last one of threads that read much."""
        much = self.busy_ns >= READS_MUCH * self.busy_ns.max()
        return int(self.lives.first_ns[much].min()), int(self.lives.last_ns[much].max())


def session_readers(processes: Sequence[ProcessData], windows: StepWindows | None) -> float:
    """Gives how many threads read at a time, of all processes together, at least 1.

    Args:
        processes: The processes.
        windows: The steps, None if there are none.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    threads = _reading_threads(processes, None if windows is None else windows.span_ns)
    if not threads.busy_ns.any():
        return _untraced_readers(processes)
    span_ns = threads.span_ns if windows is None else windows.span_ns
    depths, beside = DepthSums(), _BesideSteps(windows)
    for start_ns, end_ns, length in in_order([_calls(process, span_ns) for process in processes]):
        depths.add(start_ns, end_ns, length)
        beside.add(start_ns, end_ns)
    levels = depths.levels()
    if len(levels) == 1:
        return threads_at_a_time(threads.busy_ns, threads.lives)
    active_s = (span_ns[1] - span_ns[0]) / 1e9 if windows is None else beside.active_s()
    return count_readers(levels, threads.busy_ns, active_s, threads.lives).readers


def _reading_threads(processes: Sequence[ProcessData], span_ns: tuple[int, int] | None) -> ReadingThreads:
    """Reads the threads from the overview tables: when they made calls is known to within a bin."""
    busy: list[Array] = [np.zeros(0)]
    first: list[Array] = [np.zeros(0, np.int64)]
    last: list[Array] = [np.zeros(0, np.int64)]
    for part in overview_parts(processes):
        reads = _no_writes(part.operation)[part.operation_code]
        # What is gathered under 0 is many threads; the busiest stand for them. A log's thread 0 is one.
        reads &= (part.tid != 0) | ("darshan" in part.process.meta) | (part.tid == 0).all()
        if span_ns is not None:
            reads &= (part.start_ns + part.bin_ns > span_ns[0]) & (part.start_ns < span_ns[1])
        tids, place = np.unique(part.tid[reads], return_inverse=True)
        start_ns = part.start_ns[reads]
        busy.append(np.bincount(place, part.busy_ns[reads], minlength=len(tids)))
        first.append(np.full(len(tids), np.iinfo(np.int64).max))
        last.append(np.zeros(len(tids), np.int64))
        np.minimum.at(first[-1], place, start_ns)
        np.maximum.at(last[-1], place, start_ns + part.bin_ns)
    return ReadingThreads(np.concatenate(busy), ThreadLives(np.concatenate(first), np.concatenate(last)))


def _calls(process: ProcessData, span_ns: tuple[int, int]) -> Iterator[Array]:
    """Yields the calls that began in a span and are no writes: start, end and bytes, int64 (3, calls)."""
    for batch in process.event_batches(COLUMNS, [span_ns]):
        names = batch.column("operation").dictionary.to_pylist()
        code = batch.column("operation").indices.to_numpy()
        start_ns = batch.column("start_ns").to_numpy()
        chosen = _no_writes(names)[code] & (start_ns >= span_ns[0]) & (start_ns < span_ns[1])
        if chosen.any():
            columns = [batch.column(name).to_numpy()[chosen] for name in COLUMNS[:3]]
            yield np.stack(columns)


class _BesideSteps:
    """Adds up the calls' time in the waits of steps, and in the rest of the steps."""

    def __init__(self, windows: StepWindows | None) -> None:
        self._windows = windows
        self._parts: list[Covered] = []
        self._sums_ns = [0, 0]
        if windows is not None and windows.wait_end_ns is not None:
            self._parts = [
                covered(windows.start_ns, windows.wait_end_ns),
                covered(windows.wait_end_ns, windows.end_ns),
            ]

    def add(self, start_ns: Array, end_ns: Array) -> None:
        """Adds calls."""
        for place, part in enumerate(self._parts):
            self._sums_ns[place] += int(part.within(start_ns, end_ns).sum())

    def active_s(self) -> float | None:
        """Gives how long the input pipeline was at work, None if the waits are unknown."""
        if self._windows is None:
            return None
        return self._windows.active_s(self._windows.overlap(*self._sums_ns))


def _untraced_readers(processes: Sequence[ProcessData]) -> float:
    """Gives processes at a time, by the calls that each has at a time while one is running.

    Of a log without a trace it is the ranks: nothing says how many threads they have.
    """
    logs = [process.meta["darshan"] for process in processes if "darshan" in process.meta]
    if logs:
        ranks = [rank for log in logs for rank in log["ranks"]]
        return float(max(1, logs[0]["processes"] if -1 in ranks else len(ranks)))
    metas = [process.meta for process in processes]
    thread_ns = np.array([meta["time"]["thread_ns"] or 0 for meta in metas], np.float64)
    io_ns = sum(meta["time"]["io_ns"] or 0 for meta in metas)
    if io_ns <= 0:
        return 1.0
    spans_ns = [_span_ns(meta) for meta in metas]
    lives = ThreadLives(*(np.array(moments, np.int64) for moments in zip(*spans_ns, strict=True)))
    together = max(1.0, float(thread_ns.sum()) / io_ns)
    return together * threads_at_a_time(thread_ns, lives)


def _span_ns(meta: dict[str, Any]) -> tuple[int, int]:
    """Gives when a process made its first call and its last one, or else when it was recorded."""
    times, start_ns = meta["time"], int(meta["start_ns"])
    first_ns, last_ns = times.get("first_event_ns"), times.get("last_event_ns")
    if first_ns is None or last_ns is None:
        return start_ns, start_ns + int(meta["duration_ns"])
    return start_ns + int(first_ns), start_ns + int(last_ns)


def _no_writes(operations: Sequence[str]) -> Array:
    """Says which kinds of call are no writes or syncs, bool."""
    writes = {known.name for known in _bridge.operations() if known.io_class == "write"}
    return np.array([name not in writes for name in operations] or [False], bool)
