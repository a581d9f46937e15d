"""Bandwidth against queue depth: how long how many calls were running, and what they moved meanwhile."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.intervals import Array

DEEPEST = 1024


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
    if len(start_ns) == 0:
        return pd.DataFrame(
            {name: np.zeros(1) for name in ("seconds", "bytes", "bytes_per_s")},
            index=pd.RangeIndex(1, name="depth"),
        )
    end_order = np.argsort(end_ns, kind="stable")
    rate = length / np.maximum(end_ns - start_ns, 1)
    moments = np.concatenate([start_ns, end_ns[end_order]])
    order = np.argsort(moments, kind="stable")
    count = len(start_ns)
    begins = order < count
    depth = np.cumsum(np.where(begins, 1, -1))[:-1]
    change = np.concatenate([rate, -rate[end_order]])[order]
    moving = np.maximum(np.cumsum(change)[:-1], 0)
    moments = moments[order]
    lasted = np.diff(moments)
    level = np.clip(depth, 0, DEEPEST - 1)
    seconds = np.bincount(level, lasted) / 1e9
    moved = np.bincount(level, lasted * moving)
    with np.errstate(divide="ignore", invalid="ignore"):
        bandwidth = np.where(seconds > 0, moved / seconds, 0.0)
    return pd.DataFrame(
        {"seconds": seconds, "bytes": moved, "bytes_per_s": bandwidth},
        index=pd.RangeIndex(len(seconds), name="depth"),
    )
