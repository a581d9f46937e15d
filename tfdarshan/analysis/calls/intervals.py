"""Unions of intervals: the time in which at least one call was running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

RADIX = 1 << 16


@dataclass(frozen=True)
class Covered:
    """Disjoint intervals in order of time, in ns; `before_ns[i]` is the time covered before interval i."""

    start_ns: Array
    end_ns: Array
    before_ns: Array

    @property
    def columns(self) -> tuple[Array, Array, Array]:
        """Starts, ends, and what is covered before each."""
        return self.start_ns, self.end_ns, self.before_ns

    def until(self, at_ns: Array) -> Array:
        """Return the time covered before each of the moments, in ns, shape of `at_ns`."""
        if len(self.start_ns) == 0:
            return np.zeros(np.shape(at_ns), np.int64)
        at_ns = np.asarray(at_ns, np.int64)
        place = np.searchsorted(self.start_ns, at_ns, side="right") - 1
        last = np.maximum(place, 0)
        inside = np.minimum(at_ns, self.end_ns[last]) - self.start_ns[last]
        return np.where(place < 0, 0, self.before_ns[last] + inside)

    def within(self, start_ns: Array, end_ns: Array) -> Array:
        """Return the time covered in each of the windows, in ns."""
        return self.until(end_ns) - self.until(start_ns)

    def total_ns(self) -> int:
        """Return all time covered."""
        return int((self.end_ns - self.start_ns).sum())


def union_ns(start_ns: Array, end_ns: Array) -> int:
    """Return the length of the union of intervals, in ns. They may come in any order."""
    return covered(start_ns, end_ns).total_ns()


class RunningUnion:
    """The length of a union of intervals that come block by block, in order of start: `sum_ns`."""

    def __init__(self) -> None:
        self.sum_ns = 0
        self._reached_ns = np.full(1, np.iinfo(np.int64).min)

    def add(self, start_ns: Array, end_ns: Array) -> None:
        """Add intervals; none begins before those that were added already."""
        if len(start_ns) == 0:
            return
        reached = np.maximum.accumulate(np.concatenate([self._reached_ns, end_ns]))
        self.sum_ns += int(np.maximum(end_ns - np.maximum(start_ns, reached[:-1]), 0).sum())
        self._reached_ns = reached[-1:]


def covered(start_ns: Array, end_ns: Array) -> Covered:
    """Merge intervals that touch or overlap. They may come in any order."""
    if len(start_ns) == 0:
        nothing = np.zeros(0, np.int64)
        return Covered(nothing, nothing, nothing)
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], np.maximum.accumulate(end_ns[order])
    first = np.flatnonzero(np.concatenate([[True], start[1:] > end[:-1]]))
    starts, ends = start[first], end[np.append(first[1:], len(end)) - 1]
    lengths = ends - starts
    return Covered(starts, ends, np.cumsum(lengths) - lengths)


def group_order(group: Array, groups: int) -> Array:
    """Return the order that sorts by group and keeps the order within one; linear for up to 2**32 groups."""
    if groups <= RADIX:
        return np.argsort(group.astype(np.uint16), kind="stable")
    low = np.argsort((group & (RADIX - 1)).astype(np.uint16), kind="stable")
    high = (group >> 16).astype(np.uint16)
    return low[np.argsort(high[low], kind="stable")]
