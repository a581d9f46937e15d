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
    sums = DepthSums()
    for first in range(0, len(start_ns), BLOCK):
        block = slice(first, first + BLOCK)
        sums.add(start_ns[block], end_ns[block], length[block])
    return sums.levels()


class DepthSums:
    """Adds up calls that come block by block, in order of start: `depth_levels` of more than memory holds."""

    def __init__(self) -> None:
        self._sums = np.zeros((2, DEEPEST))
        # Start, end and bytes per ns of calls that later ones may still run beside.
        self._held = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def add(self, start_ns: Array, end_ns: Array, length: Array) -> None:
        """Adds calls; none begins before those that were added already."""
        if len(start_ns) == 0:
            return
        self._sum_until(int(start_ns[0]))
        rate = length / np.maximum(end_ns - start_ns, 1)
        start, end, held_rate = self._held
        self._held = (
            np.concatenate([start, start_ns]),
            np.concatenate([end, end_ns]),
            np.concatenate([held_rate, rate]),
        )

    def levels(self) -> pd.DataFrame:
        """Gives what `depth_levels` does; no call can be added any more."""
        self._sum_until(int(self._held[1].max(initial=0)))
        sums = self._sums
        highest = int(np.flatnonzero(sums[0])[-1]) if sums[0].any() else 0
        seconds, moved = sums[0, : highest + 1] / 1e9, sums[1, : highest + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            bandwidth = np.where(seconds > 0, moved / seconds, 0.0)
        return pd.DataFrame(
            {"seconds": seconds, "bytes": moved, "bytes_per_s": bandwidth},
            index=pd.RangeIndex(len(seconds), name="depth"),
        )

    def _sum_until(self, until_ns: int) -> None:
        """Adds up the held calls up to a moment, and holds what of them lasts longer."""
        start, end, rate = self._held
        if len(start):
            _add(self._sums, start, np.minimum(end, until_ns), rate)
        beyond = end > until_ns
        self._held = (np.full(int(beyond.sum()), until_ns), end[beyond], rate[beyond])


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
