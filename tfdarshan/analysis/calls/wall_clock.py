"""Time in I/O by the wall clock: the union of the calls' intervals, over all processes.

A process knows its own unions. Those of several are taken from their calls, `call_unions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.call_unions import UNIONS, CallUnions, UnionPartial
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.partials.protocol import Gathered
from tfdarshan.partials.serial import SERIAL, Runner, gather
from tfdarshan.sessions.analysis_cache_file import AnalysisCache
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.units import human_seconds, plural

NAMES = ("io_ns", "read_ns", "write_ns", "meta_ns")


@dataclass(frozen=True)
class WallClock:
    """Seconds in which at least one call (of a class) was running.

    None where an imported log does not say, or the clocks of a job's hosts do not agree well enough.

    `thread_s` adds up all calls' durations; divided by `io_s` it says how many calls ran at a time. `exact`
    is False where some calls of several processes have no segment: the true value is then at most this.
    `left_out` says of which calls nothing is known, as nobody lived to read them.
    """

    duration_s: float
    io_s: float | None
    read_s: float | None
    write_s: float | None
    meta_s: float | None
    thread_s: float | None
    exact: bool
    left_out: tuple[str, ...] = ()

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


def measure_wall_clock(
    processes: Sequence[ProcessData],
    segments: Segments | None = None,
    runner: Runner = SERIAL,
    kept: AnalysisCache | None = None,
) -> WallClock:
    """Measure the time in I/O of a session, in bounded memory.

    Args:
        processes: The processes.
        segments: Their calls, where they are in memory: then the tables are not read.
        runner: What reads them else, where there are several processes.
        kept: Where that may be kept; there it is put.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    metas = [process.meta for process in processes]
    origin = min(meta["start_ns"] for meta in metas)
    duration_ns = max(meta["start_ns"] + meta["duration_ns"] for meta in metas) - origin
    own = [[meta["time"][name] for meta in metas] for name in NAMES]
    threads_ns = _total([meta["time"]["thread_ns"] for meta in metas])
    longest, exact = [_total(values) for values in own], len(metas) == 1
    lost: tuple[str, ...] = ()
    if not exact:
        if clocks_apart(processes):
            longest = [None] * UNIONS
        if None not in longest:
            gathered = _kept(kept, lambda: _gathered(processes, segments, runner))
            longest, lost = _longest(processes, np.array(own, np.int64).T, gathered), gathered.lost
            exact = all(_is_whole(process) for process in processes)
        longest = [None if value is None else min(value, duration_ns) for value in longest]
    io_s, read_s, write_s, meta_s, thread_s = (
        None if value is None else value / 1e9 for value in (*longest, threads_ns)
    )
    return WallClock(duration_ns / 1e9, io_s, read_s, write_s, meta_s, thread_s, exact, _words(lost))


def _words(lost: tuple[str, ...]) -> tuple[str, ...]:
    """Describe what was left out, in a sentence at most."""
    if not lost:
        return ()
    more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
    return (f"the time in calls is not known: each process that read {lost[0]}{more} ended",)


def clocks_apart(processes: Sequence[ProcessData]) -> str:
    """Describe why the calls of a job's hosts cannot be put on one time line; "" if they can.

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


def _partly_traced(processes: Sequence[ProcessData]) -> tuple[int, ...]:
    """Return the places of the processes of which some calls have no segment."""
    return tuple(place for place, process in enumerate(processes) if not _is_whole(process))


def _gathered(
    processes: Sequence[ProcessData], segments: Segments | None, runner: Runner
) -> Gathered[UnionPartial]:
    question = CallUnions(_partly_traced(processes))
    if segments is not None:
        return Gathered(question.of_segments(segments))
    return gather(question, time_windows(processes), runner)


def _kept(kept: AnalysisCache | None, gather: Callable[[], Gathered[UnionPartial]]) -> Gathered[UnionPartial]:
    """Return the kept partial, else what is gathered, which is kept if nothing is missing."""
    if kept is None:
        return gather()
    found: UnionPartial | None = kept.find("unions")
    if found is not None:
        return Gathered(found)
    gathered = gather()
    if not gathered.lost:
        kept.put("unions", gathered.partial)
    return gathered


def _longest(
    processes: Sequence[ProcessData], own_ns: Array, gathered: Gathered[UnionPartial]
) -> list[int | None]:
    """Return the unions over all processes, None where some calls were not read.

    Time in calls that have no segment is what a process's own union is longer than that of its segments; at
    most all of it is beside the others' calls.

    Args:
        processes: The processes.
        own_ns: Each process's own unions, int64 of shape (processes, UNIONS).
        gathered: What was read of their calls.
    """
    if gathered.lost:
        return [None] * UNIONS
    apart = _partly_traced(processes)
    untraced = np.maximum(own_ns[list(apart)] - np.array(gathered.partial.apart_ns).reshape(-1, UNIONS), 0)
    together = np.array(gathered.partial.together_ns) + untraced.sum(axis=0, dtype=np.int64)
    return together.tolist()
