"""Equal parts of a stretch of time, and what calls did in each.

A call's bytes are spread evenly over its duration: counted at its start, one long read would look like a
burst that no device can give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array


@dataclass(frozen=True)
class TimeBins:
    """`count` parts of `bin_ns` each, from `start_ns` on."""

    start_ns: int
    bin_ns: int
    count: int

    @property
    def end_ns(self) -> int:
        """The end of the last part."""
        return self.start_ns + self.bin_ns * self.count

    def edges_ns(self) -> Array:
        """Gives the bounds of the parts, int64 of shape (count + 1,)."""
        return self.start_ns + self.bin_ns * np.arange(self.count + 1, dtype=np.int64)

    def clipped(self, start_ns: Array, end_ns: Array) -> tuple[Array, Array]:
        """Gives starts and ends as ns since the first part's start, cut to all parts together."""
        last = self.bin_ns * self.count
        start = np.clip(start_ns - self.start_ns, 0, last - 1)
        return start, np.clip(end_ns - self.start_ns, start, last)


def bins_over(start_ns: int, end_ns: int, count: int) -> TimeBins:
    """Divides a stretch of time into `count` parts of at least 1 ns; the last may reach over its end."""
    return TimeBins(start_ns, max(1, -(-(end_ns - start_ns) // count)), count)


def count_starts(bins: TimeBins, group: Array, groups: int, start: Array) -> Array:
    """Counts calls in the part they started in, float64 of shape (groups, bins.count); `start` is clipped."""
    return _scattered(bins, group, groups, start // bins.bin_ns, None)


def spread(
    bins: TimeBins, group: Array, groups: int, start: Array, end: Array, amounts: Sequence[Array]
) -> list[Array]:
    """Spreads each call's amounts evenly over its duration.

    Args:
        bins: The parts.
        group: Each call's group, from 0.
        groups: How many groups there are.
        start: Clipped starts, `TimeBins.clipped`.
        end: Clipped ends.
        amounts: Amounts to spread, each with one entry per call.

    Returns:
        For each of the amounts its sums, float64 of shape (groups, bins.count). They add up to the amounts.
    """
    first, last = start // bins.bin_ns, np.minimum(end // bins.bin_ns, bins.count - 1)
    inside = first == last
    if inside.all():
        return [_scattered(bins, group, groups, first, amount) for amount in amounts]
    here, across = np.flatnonzero(inside), np.flatnonzero(~inside)
    group_here, first_here = group[here], first[here]
    group, start, end, first, last = (a[across] for a in (group, start, end, first, last))
    head, tail = (first + 1) * bins.bin_ns - start, end - last * bins.bin_ns
    sums = []
    for amount in amounts:
        rate = amount[across] / (end - start)
        change = _scattered(bins, group, groups, first + 1, rate) - _scattered(
            bins, group, groups, last, rate
        )
        total = _scattered(bins, group_here, groups, first_here, amount[here])
        total += _scattered(bins, group, groups, first, rate * head)
        total += _scattered(bins, group, groups, last, rate * tail)
        sums.append(total + np.cumsum(change, axis=1) * bins.bin_ns)
    return sums


def whole(sums: Array) -> Array:
    """Rounds sums over parts to whole numbers that add up to the rounded total, int64 of the same shape."""
    totals = np.maximum.accumulate(np.rint(np.cumsum(sums, axis=-1)), axis=-1)
    return np.diff(totals, axis=-1, prepend=0).astype(np.int64)


def _scattered(bins: TimeBins, group: Array, groups: int, place: Array, weight: Array | None) -> Array:
    cells = groups * bins.count
    sums = np.bincount(group * bins.count + place, weight, minlength=cells)
    return sums.astype(np.float64, copy=False).reshape(groups, bins.count)
