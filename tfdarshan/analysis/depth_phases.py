"""Phases of a session in which few calls were under way, and phases in which many were: what each moved.

One moment of a shallow queue says nothing: it may be the end of a burst, or a read that memory served. So the
time is cut into windows of many calls, and windows of one depth that follow each other are a phase. Its
first window, in which calls of the phase before still run, is left out. In a shallow phase fewer threads
read: where as many do, and are quicker, it is the storage that changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array

# A window is so long that so many calls end in it.
CALLS_LONG = 20
LEAST_WINDOW_S = 0.02
# A session is cut into no more windows than this.
MOST_WINDOWS = 100_000
# Windows in which calls ran for less of the time say how much was asked for, not what storage gives. Of those
# with few calls under way what they gave meanwhile is enough.
BUSY, SOMEWHAT_BUSY = 0.9, 0.3
SHALLOWER = 0.7


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


def depth_phases(start_ns: Array, end_ns: Array, length: Array, thread: Array) -> DepthPhases | None:
    """Finds the phases of calls; None where the queue was always as deep, or seldom busy.

    Args:
        start_ns: Starts of the calls, ascending.
        end_ns: Their ends.
        length: Bytes that each moved.
        thread: Who made it.
    """
    if len(start_ns) < CALLS_LONG:
        return None
    taken_ns = np.maximum(end_ns - start_ns, 1)
    first, last = int(start_ns[0]), int(end_ns.max())
    together = max(1.0, float(taken_ns.sum()) / (last - first))
    window_ns = max(
        CALLS_LONG * float(np.median(taken_ns)) / together,
        LEAST_WINDOW_S * 1e9,
        (last - first) / MOST_WINDOWS,
    )
    edges = np.arange(first, last + window_ns, window_ns)
    if len(edges) < 3:
        return None
    depth, busy, moved = _at(edges, start_ns, end_ns, length / taken_ns)
    depth, busy, rate = (np.diff(sums) / window_ns for sums in (depth, busy, moved))
    active = busy >= BUSY
    if not active.any():
        return None
    usual = float(depth[active].mean())
    shallow, deep = (
        (busy >= SOMEWHAT_BUSY) & (depth <= SHALLOWER * usual),
        active & (depth > SHALLOWER * usual),
    )
    rate = rate / np.maximum(busy, SOMEWHAT_BUSY)
    threads = _threads(edges, start_ns, thread)
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


def _threads(edges: Array, start_ns: Array, thread: Array) -> Array:
    """Counts the threads whose calls began between each moment and the next."""
    window = np.searchsorted(edges, start_ns, side="right") - 1
    both = np.unique(window.astype(np.int64) << 32 | thread.astype(np.int64))
    found: Array = np.bincount(both >> 32, minlength=len(edges) - 1)[: len(edges) - 1]
    return found


def _at(edges: Array, start_ns: Array, end_ns: Array, rate: Array) -> tuple[Array, Array, Array]:
    """Gives, up to each moment, the time in calls, the time with some running, and the bytes."""
    order = np.argsort(end_ns, kind="stable")
    moments = np.concatenate([start_ns, end_ns[order]])
    change = np.concatenate([np.ones(len(start_ns)), -np.ones(len(end_ns))])
    change_rate = np.concatenate([rate, -rate[order]])
    order = np.argsort(moments, kind="stable")
    moments = moments[order]
    lasted = np.diff(moments)
    running = np.cumsum(change[order])[:-1]
    sums = []
    for height in (running, running > 0, np.cumsum(change_rate[order])[:-1]):
        area = np.concatenate([[0.0], np.cumsum(height * lasted)])
        sums.append(np.interp(edges, moments, area))
    return sums[0], sums[1], sums[2]
