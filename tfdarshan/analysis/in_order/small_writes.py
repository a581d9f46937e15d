"""What small writes take, and what they take that wait for nothing, as far as that shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.call_kinds import KIND, kind_codes
from tfdarshan.analysis.contention import contention_of
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.storage_passes import from_storage

# Storage serves calls one at a time if so much of each is served so for certain.
ONE_AT_A_TIME = 0.5
# What so many of a hundred writes take at most is what one takes that waits for nothing.
QUICKEST_PERCENT = 10


@dataclass(frozen=True)
class SmallWrites:
    """Seconds of all of them added up, and what of these reads may be the reason of."""

    all_s: float
    for_reads_s: float


NO_WRITES = SmallWrites(0.0, 0.0)


def small_writes(calls: Segments | None, chosen: Array, most_bytes: float) -> SmallWrites:
    """Adds up the writes of at most so many bytes to some files.

    What is beyond the quickest ones' time is waited for behind reads. But where storage serves its reads one
    at a time, as a disk's arm does, and some of the files are read before nine in ten of the writes, even the
    quickest may take what they do for that alone.

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
    reads = (kind_codes(calls.operations) == KIND["read"])[calls.operation] & (calls.file >= 0)
    reads &= chosen[np.maximum(calls.file, 0)]
    before = np.diff(np.cumsum(reads)[found], prepend=0)
    after_reads = 100 * np.count_nonzero(before) > (100 - QUICKEST_PERCENT) * len(before)
    quickest_s = float(np.percentile(taken_s, QUICKEST_PERCENT))
    if after_reads and _one_at_a_time(calls.where(np.flatnonzero(reads))):
        quickest_s = 0.0
    return SmallWrites(float(taken_s.sum()), float(np.maximum(taken_s - quickest_s, 0.0).sum()))


def _one_at_a_time(reads: Segments) -> bool:
    """Says whether some reads show that storage serves one of them at a time."""
    taken_s = (reads.end_ns - reads.start_ns) / 1e9
    stored = from_storage(np.ones(len(reads)), reads.length, taken_s)
    start_ns, end_ns, length = (values[stored] for values in (reads.start_ns, reads.end_ns, reads.length))
    found = contention_of([(start_ns, end_ns, length, np.full(len(length), KIND["read"]))])
    return found is not None and found.low >= ONE_AT_A_TIME
