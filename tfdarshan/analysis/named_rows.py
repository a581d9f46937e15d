"""Rows of whole numbers by name: the partials of sums, which merge name by name."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import Array


@dataclass(frozen=True, eq=False)
class NamedRows:
    """`rows` has one row per name, int64; names are sorted. What is not named is 0."""

    names: tuple[Any, ...]
    rows: Array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedRows):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.rows, other.rows)

    __hash__ = None  # type: ignore[assignment]

    def row(self, name: Hashable) -> Array:
        """Gives the row of a name that may be missing."""
        if name in self.names:
            found: Array = self.rows[self.names.index(name)]
            return found
        return np.zeros(self.rows.shape[1:], np.int64)

    def sum(self) -> Array:
        """Adds up all rows."""
        return np.asarray(self.rows.sum(axis=0))


def no_rows(*shape: int) -> NamedRows:
    """Gives rows of such a shape, of no name."""
    return NamedRows((), np.zeros((0, *shape), np.int64))


def named_rows(names: Sequence[Any], rows: Array, largest: tuple[int, ...] = ()) -> NamedRows:
    """Adds up rows of the same name; rows that are all 0 are left out.

    Args:
        names: A name of each row.
        rows: The rows, int64.
        largest: Columns of which the largest number counts in place of the sum.
    """
    used = np.flatnonzero(rows.any(axis=tuple(range(1, rows.ndim)))).tolist()
    found = sorted({names[place] for place in used})
    places = {name: place for place, name in enumerate(found)}
    at = np.array([places[names[place]] for place in used], np.int64)
    sums = np.zeros((len(found), *rows.shape[1:]), np.int64)
    np.add.at(sums, at, rows[used])
    for column in largest:
        sums[:, column] = 0
        np.maximum.at(sums[:, column], at, rows[used, column])
    return NamedRows(tuple(found), sums)


def merged_rows(one: NamedRows, other: NamedRows, largest: tuple[int, ...] = ()) -> NamedRows:
    """Adds up two; `largest` as `named_rows` takes it."""
    if one.names == other.names and not largest:
        return NamedRows(one.names, one.rows + other.rows)
    return named_rows([*one.names, *other.names], np.concatenate([one.rows, other.rows]), largest)
