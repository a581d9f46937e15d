"""What small writes take, and what the quickest of them take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.call_kinds import KIND, kind_codes
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments

# What so many of a hundred writes take at most is what one takes that waits for nothing.
QUICKEST_PERCENT = 10


@dataclass(frozen=True)
class SmallWrites:
    """Seconds of all of them added up, and what of these is beyond the quickest ones' time."""

    all_s: float
    beyond_quickest_s: float


NO_WRITES = SmallWrites(0.0, 0.0)


def small_writes(calls: Segments | None, chosen: Array, most_bytes: float) -> SmallWrites:
    """Adds up the writes of at most so many bytes to some files.

    Args:
        calls: A session's; None if they are too many: then none is known.
        chosen: The files, a mask over the file table.
        most_bytes: The bytes.
    """
    if calls is None:
        return NO_WRITES
    of_writes = kind_codes(calls.operations) == KIND["write"]
    found = of_writes[calls.operation] & (calls.file >= 0) & (calls.length <= most_bytes)
    found &= chosen[np.maximum(calls.file, 0)] & (calls.error == 0)
    taken_s = (calls.end_ns[found] - calls.start_ns[found]) / 1e9
    if not len(taken_s):
        return NO_WRITES
    beyond_s = np.maximum(taken_s - np.percentile(taken_s, QUICKEST_PERCENT), 0.0)
    return SmallWrites(float(taken_s.sum()), float(beyond_s.sum()))
