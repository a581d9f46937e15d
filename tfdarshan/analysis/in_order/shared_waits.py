"""What steps waited with calls on each file under way: of several at a time each has a part."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array, Covered


class SharedWaits:
    """Adds up waits file by file, block by block, of calls that come in order of start.

    A moment of a wait in which n calls were under way counts 1/n for the file of each, so that all files
    together have the time in which any call was.

    Args:
        files: Rows of the file table.
        waits: The waits.
    """

    def __init__(self, files: int, waits: Covered) -> None:
        self._sums_ns, self._waits = np.zeros(files), waits
        # Calls that were under way when the last one began, from there on.
        self._held = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))

    def add(self, start_ns: Array, end_ns: Array, file: Array) -> None:
        """Adds calls; none begins before those that were added already."""
        # By a clock that stands still but for the waits.
        start, end = self._waits.until(start_ns), self._waits.until(end_ns)
        within = np.flatnonzero(end > start)
        if len(within):
            held = self._held
            self._held = (
                np.concatenate([held[0], start[within]]),
                np.concatenate([held[1], end[within]]),
                np.concatenate([held[2], file[within]]),
            )
            self._share(int(start[within[-1]]))

    def sums_s(self) -> Array:
        """Gives the seconds of each file, float64; nothing is added any more."""
        if len(self._held[0]):
            self._share(int(self._held[1].max()))
        sums: Array = self._sums_ns / 1e9
        return sums

    def _share(self, until: int) -> None:
        """Shares out the time before a moment; nothing that is added later was under way before it."""
        start, end, file = self._held
        moments = np.concatenate([start, np.minimum(end, until)])
        # Two runs that ascend, or nearly so, are merged; a call begins before it ends.
        order = np.argsort(moments, kind="stable")
        in_order = moments[order]
        running = np.cumsum(np.where(order < len(start), 1, -1))
        shared = np.zeros(len(moments))
        np.cumsum(np.diff(in_order) / np.maximum(running[:-1], 1), out=shared[1:])
        before = np.empty(len(moments))
        before[order] = shared
        taken = before[len(start) :] - before[: len(start)]
        np.add.at(self._sums_ns, file, taken)
        left = end > until
        self._held = (np.full(np.count_nonzero(left), until, np.int64), end[left], file[left])
