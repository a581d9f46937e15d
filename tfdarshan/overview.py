"""The overview table: what every thread did in each of 2048 equal parts of the session.

It makes the first view of a session independent of its number of segments. A call's bytes are spread evenly
over its duration: counted at its start, one long read would look like a burst no device can give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.schema import OVERVIEW_BINS
from tfdarshan.spool_reader import Array, EventBatch, ThreadInfo

THREADS_KEPT = 255


class Overview:
    """Adds up batches of segments; `columns()` gives the table.

    Args:
        duration_ns: What the bins cover, from 0; segments that end later are cut there.
        threads: The process's threads; those beyond the busiest 255 are gathered under tid 0.
        operations: Number of operation codes.
    """

    def __init__(self, duration_ns: int, threads: Sequence[ThreadInfo], operations: int) -> None:
        self.bin_ns = max(1, -(-duration_ns // OVERVIEW_BINS))
        busiest = sorted(threads, key=lambda thread: thread.events, reverse=True)[:THREADS_KEPT]
        self._tids = np.unique(np.array([0] + [thread.tid for thread in busiest], np.int64))
        self._operations = operations
        self._pair_of = np.full(len(self._tids) * operations, -1, np.int64)
        self._pairs: list[int] = []
        self._sums = np.zeros((3, 0, OVERVIEW_BINS))

    def add(self, batch: EventBatch, moved: Array) -> None:
        """Adds segments; `moved` is the bytes each one moved."""
        pair = self._pair_index(batch.tid, batch.operation)
        last_ns = self.bin_ns * OVERVIEW_BINS
        start = np.clip(batch.start_ns, 0, last_ns - 1)
        end = np.clip(batch.end_ns, start, last_ns)
        first, last = start // self.bin_ns, np.minimum(end // self.bin_ns, OVERVIEW_BINS - 1)
        self._scatter(0, pair, first, np.ones(len(pair)))
        inside = first == last
        self._scatter(1, pair[inside], first[inside], moved[inside])
        self._scatter(2, pair[inside], first[inside], (end - start)[inside])
        across = ~inside
        if across.any():
            self._spread(pair[across], start[across], end[across], moved[across])

    def columns(self) -> dict[str, Array]:
        """Gives the non-empty rows, sorted by bin; sums over the bins are exact whole numbers."""
        totals = np.maximum.accumulate(np.rint(np.cumsum(self._sums, axis=2)), axis=2)
        whole = np.diff(totals, axis=2, prepend=0).astype(np.int64)
        bins, pairs = np.nonzero(whole.any(axis=0).T)
        keys = np.array(self._pairs, np.int64)[pairs] if len(pairs) else pairs
        return {
            "bin": bins.astype(np.int32),
            "tid": self._tids[keys // self._operations].astype(np.int32),
            "operation": (keys % self._operations).astype(np.int8),
            "count": whole[0][pairs, bins],
            "bytes": whole[1][pairs, bins],
            "busy_ns": whole[2][pairs, bins],
        }

    def _pair_index(self, tid: Array, operation: Array) -> Array:
        place = np.searchsorted(self._tids, tid)
        place = np.where(self._tids[np.minimum(place, len(self._tids) - 1)] == tid, place, 0)
        key = place * self._operations + operation
        new = [int(found) for found in np.unique(key) if self._pair_of[found] < 0]
        if new:
            self._pair_of[new] = np.arange(len(self._pairs), len(self._pairs) + len(new))
            self._pairs += new
            grown = np.zeros((3, len(new), OVERVIEW_BINS))
            self._sums = np.concatenate([self._sums, grown], axis=1)
        return self._pair_of[key]

    def _scatter(self, measure: int, pair: Array, bin_: Array, weight: Array) -> None:
        cells = self._sums[measure].reshape(-1)
        cells += np.bincount(pair * OVERVIEW_BINS + bin_, weight, minlength=len(cells))

    def _spread(self, pair: Array, start: Array, end: Array, moved: Array) -> None:
        """Adds segments that reach over more than one bin: both ends, and the bins between by differences."""
        first, last = start // self.bin_ns, np.minimum(end // self.bin_ns, OVERVIEW_BINS - 1)
        head, tail = (first + 1) * self.bin_ns - start, end - last * self.bin_ns
        for measure, rate in ((1, moved / (end - start)), (2, np.ones(len(pair)))):
            self._scatter(measure, pair, first, rate * head)
            self._scatter(measure, pair, last, rate * tail)
            steps = self._steps(pair, first + 1, rate * self.bin_ns) - self._steps(
                pair, last, rate * self.bin_ns
            )
            self._sums[measure] += np.cumsum(steps, axis=1)

    def _steps(self, pair: Array, bin_: Array, height: Array) -> Any:
        size = len(self._pairs) * OVERVIEW_BINS
        return np.bincount(pair * OVERVIEW_BINS + bin_, height, minlength=size).reshape(-1, OVERVIEW_BINS)
