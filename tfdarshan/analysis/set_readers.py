"""The readers of several data sets that are read one after the other, each by as many as it has.

A generator reads the training set by itself, and a `map()` the validation set with two calls at a time: time
in calls on the one is divided by 1, on the other by 2. Counted together they look like two readers that rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfdarshan.analysis.depth_levels import DepthSums
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.reader_count import ReaderCount, ThreadLives, count_readers
from tfdarshan.native.input_sums import InputCalls

# Sets are read one after the other if the times in which each is read add up to so many times all, at most.
APART = 1.05
# Readers differ from so many times the fewest on; else all calls together say more exactly how many.
DIFFERENT = 1.25


class SetDepths:
    """Adds up calls at a time, of all files and of each set.

    Args:
        set_of: The set of each row of the file table; None if all are of one.
    """

    def __init__(self, set_of: Array | None = None) -> None:
        self._set_of = set_of
        self._all = DepthSums()
        self._sets = [] if set_of is None else [DepthSums() for _ in range(int(set_of.max()) + 1)]

    def add(self, calls: InputCalls) -> None:
        """Adds calls; none begins before those that were added already."""
        self._all.add(calls)
        if self._set_of is None:
            return
        number = self._set_of[calls.file]
        for place, sums in enumerate(self._sets):
            sums.add(calls.part(np.flatnonzero(number == place)))

    def levels(self) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
        """Gives `DepthSums.levels` of all files, and of each set that was read."""
        sets = [found for found in (sums.levels() for sums in self._sets) if len(found) > 1]
        return self._all.levels(), sets


def count_of_sets(
    levels: pd.DataFrame,
    sets: Sequence[pd.DataFrame],
    thread_ns: Array,
    active_s: float | None,
    lives: ThreadLives,
) -> ReaderCount:
    """Counts the readers: those by which all time in calls is to be divided.

    Args:
        levels: `depth_levels` of all calls.
        sets: The same of each data set.
        thread_ns: Time in calls of each thread.
        active_s: How long the pipeline worked, where that is known.
        lives: When each thread made calls.
    """
    whole = count_readers(levels, thread_ns, active_s, lives)
    busy_s = _busy_s(levels)
    if len(sets) < 2 or sum(map(_busy_s, sets)) > APART * busy_s:
        return whole
    share_of = [_busy_s(one) / busy_s for one in sets]
    counts = [
        count_readers(one, thread_ns, None if active_s is None else share * active_s, lives).readers
        for one, share in zip(sets, share_of, strict=True)
    ]
    if max(counts) < DIFFERENT * min(counts):
        return whole
    spent_s = [float((one.index.to_numpy() * one["seconds"]).sum()) for one in sets]
    readers = sum(spent_s) / sum(seconds / count for seconds, count in zip(spent_s, counts, strict=True))
    share = min(1.0, whole.busy_share * whole.readers / readers)
    return dataclasses.replace(whole, readers=readers, busy_share=share)


def _busy_s(levels: pd.DataFrame) -> float:
    return float(levels["seconds"].to_numpy()[1:].sum())
