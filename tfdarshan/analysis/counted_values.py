"""How often each whole number was seen: histograms that merge."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array


@dataclass(frozen=True, eq=False)
class CountedValues:
    """`values`, ascending, and how often each was seen, int64 of one length."""

    values: Array
    counts: Array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountedValues):
            return NotImplemented
        return np.array_equal(self.values, other.values) and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def at_rank(self, rank: int) -> tuple[int, int]:
        """Gives the value that has a rank, from 0, in ascending order, and how many are below this value."""
        reached = np.cumsum(self.counts)
        place = int(np.searchsorted(reached, rank, side="right"))
        return int(self.values[place]), int(reached[place] - self.counts[place])


NamedCounts = Mapping[Hashable, CountedValues]


def counted(values: Array) -> CountedValues:
    """Counts values."""
    return CountedValues(*np.unique(values.astype(np.int64), return_counts=True))


def merged_counts(one: NamedCounts, other: NamedCounts) -> dict[Hashable, CountedValues]:
    """Adds up counts by name."""
    merged = dict(one)
    for name, counts in other.items():
        merged[name] = _added(merged[name], counts) if name in merged else counts
    return merged


def _added(one: CountedValues, other: CountedValues) -> CountedValues:
    values, place = np.unique(np.concatenate([one.values, other.values]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place, np.concatenate([one.counts, other.counts]))
    return CountedValues(values, counts)
