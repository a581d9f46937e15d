"""What steps wait that no call is part of, nor makes room for beside the step before."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array, covered

# A thread that waited goes on so much later than its call ended, and with cold caches: so much at most after
# each, by copies of kept jobs that make thousands of calls, and no more than the call took.
WOKEN_NS = 50_000


class UnhiddenWaits:
    """Adds up, block by block, of calls that come in order of start, when any was under way.

    A batch that comes late takes its pipeline calls and other work. Without the calls the other work is still
    to be done, and is waited for unless there is time for it before: while the step before computes, in place
    of the calls that ran then. So a pipeline that starts an epoch builds its first batch, and one whose
    batches are ready hands them over, wherever its files are.

    Args:
        start_ns: When steps begin, and their waits, in order of time.
        wait_end_ns: When these waits end.
    """

    def __init__(self, start_ns: Array, wait_end_ns: Array) -> None:
        # In order of time: where processes' steps overlap, one's wait counts until another's begins.
        self._moments = np.maximum.accumulate(np.stack([start_ns, wait_end_ns], axis=1).ravel())
        self._called = np.zeros(len(self._moments), np.int64)
        self._woken = np.zeros(len(self._moments) + 1)
        self._reached_ns = np.iinfo(np.int64).min

    def add(self, start_ns: Array, end_ns: Array) -> None:
        """Adds calls; none begins before those that were added already."""
        if len(start_ns):
            start, end = (np.maximum(moments, self._reached_ns) for moments in (start_ns, end_ns))
            self._called += covered(start, end).until(self._moments)
            self._reached_ns = int(end.max())
            place = np.searchsorted(self._moments, end_ns, side="right")
            np.add.at(self._woken, place, np.minimum(end_ns - start_ns, WOKEN_NS))

    def sum_s(self) -> float:
        """Gives the seconds of all steps together."""
        waited = np.diff(self._moments)[::2]
        called = np.diff(self._called)
        beside = np.insert(called[1::2], 0, 0)
        return float(np.maximum(waited - called[::2] - beside - self._woken[1::2], 0).sum()) / 1e9
