"""The overview table: what every thread did in each of 2048 equal parts of the session.

It makes the first view of a session independent of its number of segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.native.call_sums import BIN_BUSY_NS, BIN_CALLS, Calls
from tfdarshan.native.spool_reader import Array, ThreadInfo
from tfdarshan.sessions.schema import OVERVIEW_BINS
from tfdarshan.sessions.writing.time_bins import bins_over, whole_bytes_in

THREADS_KEPT = 255


class Overview:
    """Adds up batches of segments; `columns()` gives the table.

    Args:
        duration_ns: What the bins cover, from 0; segments that end later are cut there.
        threads: The process's threads; those beyond the busiest 255 are gathered under tid 0.
        operations: Number of operation codes.
    """

    def __init__(self, duration_ns: int, threads: Sequence[ThreadInfo], operations: int) -> None:
        self._bins = bins_over(0, duration_ns, OVERVIEW_BINS)
        busiest = sorted(threads, key=lambda thread: thread.events, reverse=True)[:THREADS_KEPT]
        self._tids = np.array(sorted({0, *(thread.tid for thread in busiest)}), np.int64)
        self._operations = operations
        self._pair_of = np.full(len(self._tids) * operations, -1, np.int64)
        self._pairs: list[int] = []
        self._sums = self._bins.no_sums(0)

    @property
    def bin_ns(self) -> int:
        """The length of a bin."""
        return self._bins.bin_ns

    def add(self, batch: Any, moved: Array) -> None:
        """Add segments; `moved` is the bytes each one moved.

        Args:
            batch: An `EventBatch`, or what has `start_ns`, `end_ns`, `tid` and `operation` as it has.
            moved: Bytes.
        """
        pair = self._pair_index(batch.tid, batch.operation)
        start = np.clip(batch.start_ns, 0, self._bins.end_ns - 1)
        end = np.clip(batch.end_ns, start, self._bins.end_ns)
        self._bins.add(self._sums, Calls(start, end, moved, np.zeros(len(start))), pair)

    def columns(self) -> dict[str, Array]:
        """Return the non-empty rows, sorted by bin; sums over the bins are exact whole numbers."""
        count, busy_ns = (self._sums[..., column] for column in (BIN_CALLS, BIN_BUSY_NS))
        moved = whole_bytes_in(self._sums)
        bins, pairs = np.nonzero(np.any([count, moved, busy_ns], axis=0).T)
        keys = np.array(self._pairs, np.int64)[pairs] if len(pairs) else pairs
        return {
            "bin": bins.astype(np.int32),
            "tid": self._tids[keys // self._operations].astype(np.int32),
            "operation": (keys % self._operations).astype(np.int8),
            "count": count[pairs, bins],
            "bytes": moved[pairs, bins],
            "busy_ns": busy_ns[pairs, bins],
        }

    def _pair_index(self, tid: Array, operation: Array) -> Array:
        place = np.searchsorted(self._tids, tid)
        place = np.where(self._tids[np.minimum(place, len(self._tids) - 1)] == tid, place, 0)
        key = place * self._operations + operation
        met = np.zeros(len(self._pair_of), bool)
        met[key] = True
        new = np.flatnonzero(met & (self._pair_of < 0)).tolist()
        if new:
            self._pair_of[new] = np.arange(len(self._pairs), len(self._pairs) + len(new))
            self._pairs += new
            self._sums = np.concatenate([self._sums, self._bins.no_sums(len(new))])
        return self._pair_of[key]
