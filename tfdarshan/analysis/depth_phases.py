"""Phases of a session in which few calls were under way, and phases in which many were: what each moved.

One moment of a shallow queue says nothing: it may be the end of a burst, or a read that memory served. So the
time is cut into windows of many calls, and windows of one depth that follow each other are a phase. Its
first window, in which calls of the phase before still run, is left out. In a shallow phase fewer threads
read: where as many do, and are quicker, it is the storage that changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.thresholds import THRESHOLD

# A window is so long that so many calls end in it.
CALLS_LONG = 2 * THRESHOLD["few"]
LEAST_WINDOW_S = THRESHOLD["moment"]
# A session is cut into no more windows than this.
MOST_WINDOWS = 100_000
# Windows in which calls ran for less of the time say how much was asked for, not what storage gives. Of those
# with few calls under way what they gave meanwhile is enough.
BUSY, SOMEWHAT_BUSY = THRESHOLD["most"], THRESHOLD["clearly"]
SHALLOWER = 1 - THRESHOLD["clearly"]


@dataclass(frozen=True)
class DepthPhases:
    """Windows of shallow phases beside those of usual depth. Rates are in bytes per second.

    Attributes:
        usual_depth: The mean queue depth in deep windows: nearly as deep as all busy windows are on average.
        usual_rate: Rates in these; float64, one entry per window.
        shallow_depth: The mean queue depth in shallow phases.
        shallow_rate: Rates in theirs.
        shallow_phases: How many shallow phases there were.
    """

    usual_depth: float
    usual_rate: Array
    shallow_depth: float
    shallow_rate: Array
    shallow_phases: int


@dataclass(frozen=True)
class CallSpan:
    """What is known of calls before they are looked at again.

    Attributes:
        calls: How many there are.
        first_ns: When the first one began.
        last_ns: When the last one ended.
        taken_ns: Their durations added up.
        usual_ns: Their median duration.
    """

    calls: int
    first_ns: int
    last_ns: int
    taken_ns: float
    usual_ns: float


def depth_phases(span: CallSpan, blocks: Iterable[tuple[Array, Array, Array, Array]]) -> DepthPhases | None:
    """Finds the phases of calls; None where the queue was always as deep, or seldom busy.

    Args:
        span: What is known of the calls.
        blocks: Gives them in order of start, block by block: starts, ends, bytes moved, and who made each.
    """
    edges = _edges(span)
    if len(edges) <= 2:
        return None
    sums = _WindowSums(edges)
    for block in blocks:
        sums.add(*block)
    return _phases(*sums.sums())


def _edges(span: CallSpan) -> Array:
    """Gives where windows begin and end, in ns, float64; none of too few calls."""
    if span.calls < CALLS_LONG:
        return np.zeros(0)
    whole_ns = max(span.last_ns - span.first_ns, 1)
    together = max(1.0, span.taken_ns / whole_ns)
    window_ns = max(CALLS_LONG * span.usual_ns / together, LEAST_WINDOW_S * 1e9, whole_ns / MOST_WINDOWS)
    edges: Array = np.arange(span.first_ns, span.last_ns + window_ns, window_ns)
    return edges


def _phases(depth: Array, busy: Array, rate: Array, threads: Array) -> DepthPhases | None:
    """Finds them in windows: calls at a time, share of the time with some, bytes a ns, and threads."""
    active = busy >= BUSY
    if not active.any():
        return None
    usual = float(depth[active].mean())
    shallow, deep = (
        (busy >= SOMEWHAT_BUSY) & (depth <= SHALLOWER * usual),
        active & (depth > SHALLOWER * usual),
    )
    rate = rate / np.maximum(busy, SOMEWHAT_BUSY)
    shallow &= threads <= SHALLOWER * (np.median(threads[deep]) if deep.any() else 0)
    steady_shallow, steady_deep = (kind & np.append(False, kind[:-1]) for kind in (shallow, deep))
    if not steady_shallow.any() or not steady_deep.any():
        return None
    begins = steady_shallow & ~np.append(False, steady_shallow[:-1])
    return DepthPhases(
        float(depth[steady_deep].mean()),
        rate[steady_deep] * 1e9,
        float((depth[steady_shallow] / busy[steady_shallow]).mean()),
        rate[steady_shallow] * 1e9,
        int(begins.sum()),
    )


class _WindowSums:
    """Adds up, window by window, calls that come block by block, in order of start.

    Of each quantity it keeps what begins and ends in a window, and for how long of the window that goes on.
    """

    def __init__(self, edges: Array) -> None:
        self._edges, self._windows = edges, len(edges) - 1
        self._change, self._within = np.zeros((3, self._windows)), np.zeros((3, self._windows))
        self._reached_ns = np.full(1, np.iinfo(np.int64).min)
        self._pairs = np.zeros(0, np.int64)

    def add(self, start_ns: Array, end_ns: Array, length: Array, thread: Array) -> None:
        if not len(start_ns):
            return
        window = self._window_of(start_ns)
        ends = end_ns, self._window_of(end_ns)
        self._spread(0, (start_ns, window), ends, None)
        self._spread(2, (start_ns, window), ends, length / np.maximum(end_ns - start_ns, 1))
        reached = np.maximum.accumulate(np.concatenate([self._reached_ns, end_ns]))
        self._reached_ns = reached[-1:]
        fresh = np.flatnonzero(end_ns > reached[:-1])
        start = np.maximum(start_ns[fresh], reached[:-1][fresh])
        self._spread(1, (start, self._window_of(start)), tuple(values[fresh] for values in ends), None)
        self._pairs = np.unique(np.append(self._pairs, window << 32 | thread.astype(np.int64)))

    def sums(self) -> tuple[Array, Array, Array, Array]:
        """Gives, of each window, calls at a time, the share of it with some, bytes a ns, and threads."""
        lasts = np.diff(self._edges)
        going_on = np.cumsum(self._change, axis=1) - self._change
        depth, busy, rate = (going_on * lasts + self._within) / lasts
        return depth, busy, rate, np.bincount(self._pairs >> 32, minlength=self._windows)

    def _spread(self, row: int, starts: Any, ends: Any, weight: Array | None) -> None:
        for sign, (at_ns, window) in ((1, starts), (-1, ends)):
            left = self._edges[window + 1] - at_ns
            weighed = left if weight is None else left * weight
            self._change[row] += sign * np.bincount(window, weight, minlength=self._windows)
            self._within[row] += sign * np.bincount(window, weighed, minlength=self._windows)

    def _window_of(self, at_ns: Array) -> Array:
        window = np.searchsorted(self._edges, at_ns, side="right") - 1
        found: Array = np.minimum(window, self._windows - 1)
        return found
