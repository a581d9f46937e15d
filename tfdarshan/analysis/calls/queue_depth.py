"""How many calls were running at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.native.input_sums import Depths
from tfdarshan.sessions.writing.time_bins import TimeBins


def queue_depth(segments: Segments, bins: TimeBins) -> pd.DataFrame:
    """Return the number of calls running, over time.

    Returns:
        One row per part of time: `start_ns`, `end_ns` (int64); `mean` (float64), thread time in calls over
        the part's length; `most` (int64), the highest number at any moment in it. A call that takes no time
        counts at its moment; one that ends when another begins does not overlap it.
    """
    edges = bins.edges_ns()
    start, end = segments.start_ns, np.sort(segments.end_ns)
    busy = np.diff(_thread_ns_until(start, end, edges))
    if (segments.end_ns == start).any():
        end = np.sort(np.maximum(segments.end_ns, start + 1))
    running = np.arange(1, len(start) + 1) - np.searchsorted(end, start, side="right")
    at_edge = np.searchsorted(start, edges[:-1], side="left") - np.searchsorted(end, edges[:-1], side="right")
    most = np.maximum(at_edge, 0)
    place = (start - bins.start_ns) // bins.bin_ns
    inside = np.flatnonzero((place >= 0) & (place < bins.count))
    if len(inside):
        place, running = place[inside], running[inside]
        heads = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
        most[place[heads]] = np.maximum(most[place[heads]], np.maximum.reduceat(running, heads))
    return pd.DataFrame(
        {
            "start_ns": edges[:-1],
            "end_ns": edges[1:],
            "mean": busy / bins.bin_ns,
            "most": most.astype(np.int64),
        }
    )


def mean_at_a_time(start_ns: Array, end_ns: Array, bins: TimeBins) -> Array:
    """Return how many of some intervals, in any order, last at a time: the mean of each part, float64."""
    return np.diff(_thread_ns_until(np.sort(start_ns), np.sort(end_ns), bins.edges_ns())) / bins.bin_ns


def _thread_ns_until(start: Array, end: Array, at_ns: Array) -> Array:
    """Return the thread time in calls before each moment; `start` and `end` are each sorted.

    It is the sum of min(t, end) - min(t, start). The sums of moments may pass 2**63 and wrap round; their
    difference, which does not, is right nevertheless.
    """

    def reached(moments: Array) -> Array:
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(moments)])
        count = np.searchsorted(moments, at_ns, side="right")
        return before[count] + (len(moments) - count) * at_ns

    return np.subtract(reached(end), reached(start))


def depth_levels(depths: Depths) -> pd.DataFrame:
    """Return what happened at each queue depth; a read's bytes are spread evenly over its duration.

    Args:
        depths: Of calls that were added in order of start; none can be added any more.

    Returns:
        One row per depth from 0 to the highest seen (deeper than 1,023 is 1,023), from the first call's start
        to the last one's end: `seconds` in which so many calls were running, `bytes` moved in them. float64;
        index: the depth.
    """
    depths.end()
    highest = int(np.flatnonzero(depths.lasted_ns)[-1]) if depths.lasted_ns.any() else 0
    seconds, moved = depths.lasted_ns[: highest + 1] / 1e9, depths.moved[: highest + 1]
    return pd.DataFrame({"seconds": seconds, "bytes": moved}, index=pd.RangeIndex(len(seconds), name="depth"))
