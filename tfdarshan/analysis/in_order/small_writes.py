"""What small writes take, and what they take that wait for nothing, as far as that shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.call_kinds import KIND, kind_codes
from tfdarshan.analysis.contention import contention_of
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments, Thread
from tfdarshan.analysis.storage_passes import from_storage

# Storage serves calls one at a time if so much of each is served so for certain.
ONE_AT_A_TIME = 0.5
# What so many of a hundred writes take at most is what one takes that waits for nothing.
QUICKEST_PERCENT = 10
# Writes that find reads and those that find none are compared if there are so many of each, and if the former
# take so many times as long.
FEWEST, SLOWER = 20, 3.0


@dataclass(frozen=True)
class SmallWrites:
    """Seconds of all of them; of these what may be for reads, and what other writes show to be for reads."""

    all_s: float
    for_reads_s: float
    seen_s: float = 0.0


NO_WRITES = SmallWrites(0.0, 0.0)


def small_writes(
    calls: Segments | None, chosen: Array, most_bytes: float, is_loop: Callable[[Thread], bool]
) -> SmallWrites:
    """Adds up the writes of at most so many bytes to some files.

    What is beyond the quickest ones' time is waited for behind reads. But where storage serves its reads one
    at a time, as a disk's arm does, and some of the files are read before nine in ten of the writes, even the
    quickest may take what they do for that alone.

    Args:
        calls: A session's; None if they are too many: then none is known.
        chosen: The files, a mask over the file table.
        most_bytes: The bytes.
        is_loop: Says whether a thread is the training loop's.
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
    for_reads_s = float(np.maximum(taken_s - quickest_s, 0.0).sum())
    by_loop = np.array([is_loop(thread) for thread in calls.threads], bool)[calls.thread]
    # Most of stdio's go to a buffer of the program: those are quick, whatever storage does.
    buffered = np.array([operation.module == "STDIO" for operation in calls.operations])[calls.operation]
    own, read = (calls.where(np.flatnonzero(mask)) for mask in (found & by_loop & ~buffered, reads))
    seen_s = _slower_for_reads_s(own, read)
    return SmallWrites(float(taken_s.sum()), for_reads_s, min(seen_s, for_reads_s))


def _slower_for_reads_s(writes: Segments, reads: Segments) -> float:
    """Gives what writes that find reads take longer, all together, than as many that find none.

    A write that follows another one finds the disk's arm where it has to be, and nobody in front of it. Reads
    that begin while it is under way do not count: the longer it takes, for whatever reason, the more do.
    """
    order = np.argsort(writes.start_ns, kind="stable")
    start_ns, end_ns = writes.start_ns[order], writes.end_ns[order]
    taken_s = (end_ns - start_ns) / 1e9
    last_ns = np.concatenate([[0], np.maximum.accumulate(end_ns)[:-1]])
    begun = np.searchsorted(np.sort(reads.start_ns), start_ns)
    found = begun > np.searchsorted(np.sort(reads.end_ns), np.minimum(last_ns, start_ns), side="right")
    with_reads, alone = taken_s[found], taken_s[~found]
    if min(len(with_reads), len(alone)) < FEWEST or with_reads.mean() < SLOWER * alone.mean():
        return 0.0
    return float(with_reads.sum() - len(with_reads) * alone.mean())


def _one_at_a_time(reads: Segments) -> bool:
    """Says whether some reads show that storage serves one of them at a time."""
    taken_s = (reads.end_ns - reads.start_ns) / 1e9
    stored = from_storage(np.ones(len(reads)), reads.length, taken_s)
    start_ns, end_ns, length = (values[stored] for values in (reads.start_ns, reads.end_ns, reads.length))
    found = contention_of([(start_ns, end_ns, length, np.full(len(length), KIND["read"]))])
    return found is not None and found.low >= ONE_AT_A_TIME
