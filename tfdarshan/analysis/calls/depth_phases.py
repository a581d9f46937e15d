"""Phases of a session in which few calls were under way, and phases in which many were: what each moved.

One moment of a shallow queue says nothing: it may be the end of a burst, or a read that memory served. So the
time is cut into windows of many calls, and windows of one depth that follow each other are a phase. Its
first window, in which calls of the phase before still run, is left out. In a shallow phase fewer threads
read: where as many do, and are quicker, it is the storage that changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.stretches import Columns
from tfdarshan.thresholds import THRESHOLD

# A window is so long that so many calls end in it.
CALLS_LONG = 2 * THRESHOLD["few"]
LEAST_WINDOW_S = THRESHOLD["moment"]
# A stretch is cut into no more windows than this.
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


def depth_phases(stretches: Sequence[Columns]) -> DepthPhases | None:
    """Find the phases of reads; None where the queue was always as deep, or seldom busy.

    Args:
        stretches: `StoredCalls.stretches`.
    """
    found = [_windows(*(values[one[3] == KIND["read"]] for values in one)) for one in stretches]
    return _phases(*map(np.concatenate, zip(*found, strict=True))) if found else None


def _windows(start_ns: Array, end_ns: Array, length: Array, _kind: Array, thread: Array) -> tuple[Array, ...]:
    """Return, of each window, calls at a time, the share of it with some, bytes a ns, and threads.

    Calls that are under way as a stretch begins are not known: its first window counts as idle.
    """
    edges = _edges(start_ns, end_ns)
    order = np.argsort(np.concatenate([start_ns, end_ns]), kind="stable")
    moments, sign = np.concatenate([start_ns, end_ns])[order], np.where(order < len(start_ns), 1, -1)
    rate = np.tile(length / np.maximum(end_ns - start_ns, 1), 2)[order]
    running = np.cumsum(sign)
    heights = running, running > 0, np.cumsum(sign * rate)
    depth, busy, moved = (_means(edges, moments, height) for height in heights)
    busy[:1] = 0.0
    window = np.searchsorted(edges, start_ns, side="right") - 1
    both = np.unique(window.astype(np.int64) << 32 | thread.astype(np.int64)) >> 32
    return depth, busy, moved, np.bincount(both, minlength=len(busy))[: len(busy)]


def _edges(start_ns: Array, end_ns: Array) -> Array:
    """Return where windows begin and end, in ns, float64; of too few calls no window."""
    if len(start_ns) < CALLS_LONG:
        return np.zeros(1)
    first_ns, last_ns, taken_ns = int(start_ns[0]), int(end_ns.max()), np.maximum(end_ns - start_ns, 1)
    together = max(1.0, float(taken_ns.sum()) / (last_ns - first_ns))
    window_ns = max(
        CALLS_LONG * float(np.median(taken_ns)) / together,
        LEAST_WINDOW_S * 1e9,
        (last_ns - first_ns) / MOST_WINDOWS,
    )
    return np.arange(first_ns, last_ns + window_ns, window_ns)


def _means(edges: Array, moments: Array, height: Array) -> Array:
    """Return the mean of each window of what has some height from each moment on."""
    if len(edges) < 2:
        return np.zeros(0)
    area = np.concatenate([[0.0], np.cumsum(height[:-1] * np.diff(moments))])
    return np.diff(np.interp(edges, moments, area)) / np.diff(edges)


def _phases(depth: Array, busy: Array, rate: Array, threads: Array) -> DepthPhases | None:
    """Find them in windows: calls at a time, share of the time with some, bytes a ns, and threads."""
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
