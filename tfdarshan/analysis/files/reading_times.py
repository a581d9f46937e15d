"""When each file was read first and last: from there to there a job without steps did its work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array

NEVER_NS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ReadingTimes:
    """One entry per row of the file table, int64, in nanoseconds.

    Attributes:
        first_ns: When the first read of data began; NEVER_NS where there is none.
        last_ns: When the last one ended; 0 where there is none.
    """

    first_ns: Array
    last_ns: Array

    def span_s(self, chosen: Array) -> float | None:
        """Return the time from the first read of some files to their last one; None if none was read.

        Args:
            chosen: Which files, a mask or places.
        """
        first, last = self.first_ns[chosen], self.last_ns[chosen]
        read = first < NEVER_NS
        return float(last[read].max() - first[read].min()) / 1e9 if read.any() else None

    def moved(self, place: Array, count: int) -> ReadingTimes:
        """Return the same for another table of `count` rows, in which the rows are at `place`."""
        first, last = np.full(count, NEVER_NS, np.int64), np.zeros(count, np.int64)
        first[place], last[place] = self.first_ns, self.last_ns
        return ReadingTimes(first, last)
