"""Time in I/O by the wall clock: the union of the calls' intervals, over all processes.

A process knows its own unions. Those of several are taken from their calls, merged in order of start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import Array, RunningUnion
from tfdarshan.analysis.merged_calls import in_order
from tfdarshan.analysis.segments import Segments
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.units import human_seconds, plural

CLASSES = ("read", "write", "meta")
NAMES = ("io_ns", "read_ns", "write_ns", "meta_ns")
COLUMNS = ("start_ns", "end_ns", "operation")


@dataclass(frozen=True)
class WallClock:
    """Seconds in which at least one call (of a class) was running.

    None where an imported log does not say, or the clocks of a job's hosts do not agree well enough.

    `thread_s` adds up all calls' durations; divided by `io_s` it says how many calls ran at a time. `exact`
    is False where some calls of several processes have no segment: the true value is then at most this.
    """

    duration_s: float
    io_s: float | None
    read_s: float | None
    write_s: float | None
    meta_s: float | None
    thread_s: float | None
    exact: bool

    @property
    def at_most(self) -> str:
        """What to say before a time."""
        return "" if self.exact else "at most "

    @property
    def at_least(self) -> str:
        """What to say before a bandwidth, or a number of calls at a time."""
        return "" if self.exact else "at least "

    @property
    def at_rate(self) -> str:
        """What stands between bytes and their bandwidth."""
        return " at " if self.exact else ", at least "


def measure_wall_clock(processes: Sequence[ProcessData], segments: Segments | None = None) -> WallClock:
    """Measures the time in I/O of a session, with a row group of each process in memory at a time.

    Args:
        processes: The processes.
        segments: Their calls, where they are in memory: then the tables are not read.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    metas = [process.meta for process in processes]
    origin = min(meta["start_ns"] for meta in metas)
    duration_ns = max(meta["start_ns"] + meta["duration_ns"] for meta in metas) - origin
    own = [[meta["time"][name] for meta in metas] for name in NAMES]
    threads_ns = _total([meta["time"]["thread_ns"] for meta in metas])
    exact = len(metas) == 1
    unions = [_total(values) for values in own]
    if not exact:
        if clocks_apart(processes):
            unions = [None] * len(NAMES)
        if None not in unions:
            unions = _unions(processes, np.array(own, np.int64).T, segments)
            exact = all(_is_whole(process) for process in processes)
        unions = [None if value is None else min(value, duration_ns) for value in unions]
    io_s, read_s, write_s, meta_s, thread_s = (
        None if value is None else value / 1e9 for value in (*unions, threads_ns)
    )
    return WallClock(duration_ns / 1e9, io_s, read_s, write_s, meta_s, thread_s, exact)


def clocks_apart(processes: Sequence[ProcessData]) -> str:
    """Says why the calls of a job's hosts cannot be put on one time line; "" if they can.

    A union of intervals needs clocks that agree better than a call lasts.
    """
    errors = {process.clock: process.clock_error_ns for process in processes}
    if len(errors) < 2:
        return ""
    hosts = f"the clocks of the {plural(len(errors), 'host')}"
    known = sorted(error for error in errors.values() if error is not None)
    why = "no time in calls is given over all of them: see each rank's"
    if len(known) < len(errors):
        return f"nobody knows how {hosts} compare, and their sessions are taken to begin together: {why}"
    error_ns = sum(known[-2:])
    calls = sum(int(process.meta["counts"]["events"]) for process in processes)
    call_ns = sum(int(process.meta["time"]["thread_ns"] or 0) for process in processes) / max(calls, 1)
    if error_ns <= call_ns:
        return ""
    error, call = human_seconds(error_ns / 1e9), human_seconds(call_ns / 1e9)
    return f"{hosts} are known to {error} and a call lasts {call}: {why}"


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _is_whole(process: ProcessData) -> bool:
    counts: dict[str, Any] = process.meta["counts"]
    return bool(counts["segments"] == counts["events"])


def _unions(processes: Sequence[ProcessData], own_ns: Array, segments: Segments | None) -> list[int | None]:
    """Gives the unions over all processes.

    Time in calls that have no segment is what a process's own union is longer than that of its segments; at
    most all of it is beside the others' calls.

    Args:
        processes: The processes.
        own_ns: Each process's own unions, int64 of shape (processes, 1 + classes).
        segments: Their calls, None to read them.
    """
    together, untraced_ns = _Unions(), np.zeros(len(NAMES), np.int64)
    apart = [None if _is_whole(process) else _Unions() for process in processes]
    if segments is None:
        streams = [_calls(process, union) for process, union in zip(processes, apart, strict=True)]
        for calls in in_order(streams):
            together.add(calls)
    else:
        process_of = np.array([thread.process for thread in segments.threads] or [0])
        for block in segments.blocks():
            calls = np.stack([block.start_ns, block.end_ns, block.io_class.astype(np.int64)])
            together.add(calls)
            made_by = process_of[block.thread]
            for place, union in enumerate(apart):
                if union is not None:
                    union.add(calls[:, made_by == place])
    for union, known_ns in zip(apart, own_ns, strict=True):
        if union is not None:
            untraced_ns += np.maximum(known_ns - union.sums_ns, 0)
    return [int(value) for value in together.sums_ns + untraced_ns]


class _Unions:
    """The union of all calls and that of each class, of calls added in order of start."""

    def __init__(self) -> None:
        self._unions = [RunningUnion() for _ in NAMES]

    @property
    def sums_ns(self) -> Array:
        """The unions, in the order of NAMES, int64."""
        return np.array([union.sum_ns for union in self._unions], np.int64)

    def add(self, calls: Array) -> None:
        """Adds calls: rows are start, end and class."""
        for place, union in enumerate(self._unions):
            chosen = slice(None) if place == 0 else calls[2] == place - 1
            union.add(calls[0, chosen], calls[1, chosen])


def _calls(process: ProcessData, union: _Unions | None) -> Iterator[Array]:
    """Yields a process's calls: start, end and class, int64 of shape (3, calls); `union` is told of them."""
    class_of = {operation["name"]: CLASSES.index(operation["io_class"]) for operation in process.operations}
    for batch in process.event_batches(COLUMNS):
        operation = batch.column("operation")
        known = np.array([class_of[name] for name in operation.dictionary.to_pylist()] or [0], np.int64)
        times = [batch.column(name).to_numpy() for name in COLUMNS[:2]]
        calls = np.stack([*times, known[operation.indices.to_numpy()]])
        if union is not None:
            union.add(calls)
        if calls.shape[1]:
            yield calls
