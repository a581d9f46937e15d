"""Bandwidth against queue depth: how long how many calls were running, and what they moved meanwhile."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.intervals import Array

DEEPEST = 1024
# Calls handled at a time: sorting them stays in the processor's cache.
BLOCK = 1 << 17


def depth_levels(start_ns: Array, end_ns: Array, length: Array) -> pd.DataFrame:
    """Gives what happened at each queue depth; a call's bytes are spread evenly over its duration.

    Args:
        start_ns: Starts of the calls, ascending.
        end_ns: Their ends.
        length: Bytes that each moved.

    Returns:
        One row per depth from 0 to the highest seen (deeper than 1,023 is 1,023), from the first call's start
        to the last one's end: `seconds` in which so many calls were running, `bytes` moved in them,
        `bytes_per_s` (0 where there was no time). float64; index: the depth.
    """
    sums = np.zeros((2, DEEPEST))
    carried_end, carried_rate = np.zeros(0, np.int64), np.zeros(0)
    last = int(end_ns.max(initial=0))
    for first in range(0, len(start_ns), BLOCK):
        block = slice(first, first + BLOCK)
        begins_ns, until_ns = int(start_ns[first]), last
        if first + BLOCK < len(start_ns):
            until_ns = int(start_ns[first + BLOCK])
        start = np.concatenate([np.full(len(carried_end), begins_ns), start_ns[block]])
        end = np.concatenate([carried_end, end_ns[block]])
        own_rate = length[block] / np.maximum(end_ns[block] - start_ns[block], 1)
        rate = np.concatenate([carried_rate, own_rate])
        beyond = end > until_ns
        carried_end, carried_rate = end[beyond], rate[beyond]
        _add(sums, start, np.minimum(end, until_ns), rate)
    highest = int(np.flatnonzero(sums[0])[-1]) if sums[0].any() else 0
    seconds, moved = sums[0, : highest + 1] / 1e9, sums[1, : highest + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        bandwidth = np.where(seconds > 0, moved / seconds, 0.0)
    return pd.DataFrame(
        {"seconds": seconds, "bytes": moved, "bytes_per_s": bandwidth},
        index=pd.RangeIndex(len(seconds), name="depth"),
    )


def _add(sums: Array, start: Array, end: Array, rate: Array) -> None:
    """Adds the time, and the bytes, of some calls at each depth."""
    end_order = np.argsort(end)
    moments = np.concatenate([start, end[end_order]])
    order = np.argsort(moments, kind="stable")
    depth = np.cumsum(np.where(order < len(start), 1, -1))[:-1]
    moving = np.cumsum(np.concatenate([rate, -rate[end_order]])[order])[:-1]
    lasted = np.diff(moments[order])
    level = np.clip(depth, 0, DEEPEST - 1)
    sums[0] += np.bincount(level, lasted, minlength=DEEPEST)
    sums[1] += np.bincount(level, lasted * np.maximum(moving, 0), minlength=DEEPEST)
