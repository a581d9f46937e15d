"""Bandwidth against queue depth: how long how many calls were running, and what they moved meanwhile."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.native.input_sums import Depths, InputCalls


class DepthSums:
    """Adds up calls that come block by block, in order of start: of more than memory holds, too."""

    def __init__(self) -> None:
        self._depths = Depths()

    def add(self, calls: InputCalls) -> None:
        """Adds calls; none begins before those that were added already."""
        self._depths.add(calls)

    def levels(self) -> pd.DataFrame:
        """Gives what happened at each queue depth; a read's bytes are spread evenly over its duration.

        No call can be added any more.

        Returns:
            One row per depth from 0 to the highest seen (deeper than 1,023 is 1,023), from the first call's
            start to the last one's end: `seconds` in which so many calls were running, `bytes` moved in them.
            float64; index: the depth.
        """
        self._depths.end()
        lasted_ns, moved = self._depths.lasted_ns, self._depths.moved
        highest = int(np.flatnonzero(lasted_ns)[-1]) if lasted_ns.any() else 0
        seconds, moved = lasted_ns[: highest + 1] / 1e9, moved[: highest + 1]
        return pd.DataFrame(
            {"seconds": seconds, "bytes": moved}, index=pd.RangeIndex(len(seconds), name="depth")
        )
