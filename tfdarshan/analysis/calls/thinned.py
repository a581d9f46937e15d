"""An even sample of rows that come block by block: every one, every second, every fourth."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array

# Rows that are kept at least, of more than these; at most twice as many.
AT_MOST = 200_000


def stride_of(count: int, at_most: int = AT_MOST) -> int:
    """Return which rows of so many are kept: those whose place is a multiple of it, a power of two."""
    return 1 << max(0, (count // at_most).bit_length() - 1)


class Thinned:
    """Keeps a sample of some columns.

    Args:
        columns: How many columns there are.
        at_most: Rows from twice whose number on every second one is dropped.

    Attributes:
        count: How many rows were added.
    """

    def __init__(self, columns: int, at_most: int = AT_MOST) -> None:
        self.count = 0
        self._at_most, self._stride = at_most, 1
        self._parts: list[tuple[Array, ...]] = [tuple(np.zeros(0, np.int64) for _ in range(columns))]

    def next_rows(self) -> slice:
        """Return which of the next rows are kept."""
        return slice(-self.count % self._stride, None, self._stride)

    def add(self, *columns: Array) -> None:
        """Add rows."""
        rows = self.next_rows()
        self.add_kept(len(columns[0]), *(values[rows] for values in columns))

    def add_kept(self, count: int, *columns: Array) -> None:
        """Add so many rows, of which the columns have those that are kept."""
        self.count += count
        part = tuple(values.copy() for values in columns)
        if len(part[0]):
            self._parts.append(part)
        while self._stride < stride_of(self.count, self._at_most):
            self._parts = [tuple(values[::2] for values in self.columns())]
            self._stride *= 2

    def columns(self) -> tuple[Array, ...]:
        """Return the sample's columns."""
        if len(self._parts) > 1:
            self._parts = [tuple(np.concatenate(values) for values in zip(*self._parts, strict=True))]
        return self._parts[0]
