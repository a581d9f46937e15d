"""How many readers an input pipeline has: calls that could run at a time, whichever threads make them.

Threads of a pool take turns, so their number says little: four parallel calls on a pool of sixteen keep all
sixteen a little busy. The queue depth tells: readers that are each busy a share p of the time, independently,
have a depth of mean n p and variance n p (1 - p), and that gives n. The upper bound is the number of threads
at a time, not of all that there ever were: each epoch's iterator of tf.data has new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import overview_parts
from tfdarshan.native import _bridge
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.thresholds import THRESHOLD

# Part of the busy time that may have been deeper than what counts as reached.
RARELY = THRESHOLD["rarely"]
# A thread that reads a smaller part of what the busiest one does says nothing about when input was read.
READS_MUCH = THRESHOLD["hardly"]


@dataclass(frozen=True)
class ReaderCount:
    """Readers of an input pipeline.

    Attributes:
        readers: Calls that can run at a time, at least 1.
        threads: Threads that made calls at a time, `threads_at_a_time`.
        together: Calls at a time while at least one was running, mean.
        busy_share: Share of the readers' time spent in calls while the pipeline was active.
        alive: Threads that make as many calls as others, whatever these take: `threads_alive`.
    """

    readers: float
    threads: float
    together: float
    busy_share: float
    alive: float = 1.0


@dataclass(frozen=True)
class ThreadLives:
    """First and last moment of each thread's calls, in ns; one entry per thread."""

    first_ns: Array
    last_ns: Array


def reading_span(busy_ns: Array, lives: ThreadLives) -> tuple[int, int]:
    """Return the time from the first call to the last one of threads that read much: start-up is left out."""
    if not busy_ns.any():
        return 0, 0
    much = busy_ns >= READS_MUCH * busy_ns.max()
    return int(lives.first_ns[much].min()), int(lives.last_ns[much].max())


def count_readers(
    levels: pd.DataFrame, thread_ns: Array, active_s: float | None, lives: ThreadLives | None = None
) -> ReaderCount:
    """Count the readers.

    Args:
        levels: `depth_levels` of the pipeline's calls.
        thread_ns: Time in such calls of each thread.
        active_s: How long the pipeline worked, where that is known: time without a call counts as depth 0.
        lives: When each thread made calls; without it all count as at work all the time.
    """
    total = float(thread_ns.sum())
    if total <= 0:
        return ReaderCount(1.0, 1.0, 1.0, 0.0)
    if lives is None:
        lives = ThreadLives(np.zeros(len(thread_ns), np.int64), np.ones(len(thread_ns), np.int64))
    threads = threads_at_a_time(thread_ns, lives)
    seconds = levels["seconds"].to_numpy().copy()
    depth = np.arange(len(seconds))
    busy = float(seconds[1:].sum())
    together = max(1.0, float((depth * seconds).sum()) / busy) if busy else 1.0
    if active_s is not None:
        seconds[0] = max(active_s - busy, 0.0)
    reached = _reached(seconds)
    found = _by_variance(depth, seconds)
    readers = min(max(found if found is not None else reached, reached, together), max(threads, together))
    # A pool's threads take turns: what counts is how many were ever at work at a time.
    share = together * busy / (readers * seconds.sum()) if seconds.sum() > 0 else 0.0
    alive = max(threads, threads_alive(thread_ns, lives))
    return ReaderCount(max(1.0, readers), threads, together, min(1.0, share), alive)


def threads_alive(thread_ns: Array, lives: ThreadLives) -> float:
    """Return how many threads there are at a time: those between their first call and their last one.

    Each counts as one, however long it was in calls: of a pool's threads one may have met the file that takes
    longest. What is given is the median over the time in which there are some, at least 1.

    Args:
        thread_ns: Time in calls of each thread; those without are none.
        lives: When it made them.
    """
    busy = thread_ns > 0
    if not busy.any():
        return 1.0
    ends = np.concatenate([lives.first_ns[busy], lives.last_ns[busy]])
    moments, place = np.unique(ends, return_inverse=True)
    signs = np.repeat([1.0, -1.0], len(ends) // 2)
    alive = np.cumsum(np.bincount(place, signs, minlength=len(moments)))[:-1]
    lasting = np.diff(moments) * (alive > 0)
    return max(1.0, weighted_median(alive, lasting)) if lasting.any() else 1.0


def threads_at_a_time(thread_ns: Array, lives: ThreadLives) -> float:
    """Return how many threads make calls at a time: those between their first call and their last one.

    At any moment each counts by its share of the time in calls, 1 / sum(share^2): of threads that are equally
    busy each is one, and one that hardly does anything is next to none. What is given is the median over the
    time in calls, at least 1.

    Args:
        thread_ns: Time in calls of each thread.
        lives: When it made them.
    """
    busy = thread_ns > 0
    order = np.lexsort((thread_ns[busy], lives.last_ns[busy], lives.first_ns[busy]))
    busy_ns = thread_ns[busy][order].astype(np.float64)
    lives = ThreadLives(lives.first_ns[busy][order], lives.last_ns[busy][order])
    share = np.where(busy_ns > 0, busy_ns / np.maximum(lives.last_ns - lives.first_ns, 1), 0.0)
    if len(busy_ns) == 0:
        return 1.0
    moments, place = np.unique(np.concatenate([lives.first_ns, lives.last_ns]), return_inverse=True)
    at_work, depth, squares = (
        np.cumsum(np.bincount(place, np.concatenate([values, -values]), minlength=len(moments)))[:-1]
        for values in ((share > 0).astype(np.float64), share, share**2)
    )
    # Where nobody is at work, the sums are what rounding left of them.
    some = np.flatnonzero(at_work > 0.5)
    if len(some) == 0:
        return 1.0
    found = depth[some] ** 2 / squares[some]
    return max(1.0, weighted_median(found, depth[some] * np.diff(moments)[some]))


def weighted_median(values: Array, weights: Array) -> float:
    """Return the value up to which half of the weights are; there is one value at least."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def _reached(seconds: Array) -> float:
    """Return the depth that was exceeded for a fiftieth of the busy time only."""
    busy = seconds[1:]
    if busy.sum() <= 0:
        return 1.0
    above = np.cumsum(busy[::-1])[::-1] / busy.sum()
    return float(np.flatnonzero(above > RARELY)[-1] + 1)


def _by_variance(depth: Array, seconds: Array) -> float | None:
    total = seconds.sum()
    if total <= 0:
        return None
    mean = float((depth * seconds).sum() / total)
    variance = float((depth**2 * seconds).sum() / total) - mean**2
    return mean**2 / (mean - variance) if mean - variance > THRESHOLD["hardly"] * mean else None


def untraced_readers(processes: Sequence[ProcessData]) -> float:
    """Return how many read at a time, of all processes together, at least 1.

    Args:
        processes: The processes.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    busy_ns, lives = _reading_threads(processes)
    if busy_ns.any():
        return threads_at_a_time(busy_ns, lives)
    return _readers_of_processes(processes)


def _reading_threads(processes: Sequence[ProcessData]) -> tuple[Array, ThreadLives]:
    """Return the threads' time in other calls than writes, and when these were, to within a bin."""
    busy: list[Array] = [np.zeros(0)]
    first: list[Array] = [np.zeros(0, np.int64)]
    last: list[Array] = [np.zeros(0, np.int64)]
    for part in overview_parts(processes):
        reads = _no_writes(part.operation)[part.operation_code]
        # What is gathered under 0 is many threads; the busiest stand for them. A log's thread 0 is one.
        reads &= (part.tid != 0) | ("darshan" in part.process.meta) | (part.tid == 0).all()
        tids, place = np.unique(part.tid[reads], return_inverse=True)
        start_ns = part.start_ns[reads]
        busy.append(np.bincount(place, part.busy_ns[reads], minlength=len(tids)))
        first.append(np.full(len(tids), np.iinfo(np.int64).max))
        last.append(np.zeros(len(tids), np.int64))
        np.minimum.at(first[-1], place, start_ns)
        np.maximum.at(last[-1], place, start_ns + part.bin_ns)
    return (np.concatenate(busy), ThreadLives(np.concatenate(first), np.concatenate(last)))


def _readers_of_processes(processes: Sequence[ProcessData]) -> float:
    """Return processes at a time, by the calls that each has at a time while one is running.

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
    """Return when a process made its first call and its last one, or else when it was recorded."""
    times, start_ns = meta["time"], int(meta["start_ns"])
    first_ns, last_ns = times.get("first_event_ns"), times.get("last_event_ns")
    if first_ns is None or last_ns is None:
        return start_ns, start_ns + int(meta["duration_ns"])
    return start_ns + int(first_ns), start_ns + int(last_ns)


def _no_writes(operations: Sequence[str]) -> Array:
    """Return which kinds of call are no writes or syncs, bool."""
    writes = {known.name for known in _bridge.operations() if known.io_class == "write"}
    return np.array([name not in writes for name in operations] or [False], bool)
