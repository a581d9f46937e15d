"""Stretches of rows that follow each other, evenly out of all that come block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdarshan.analysis.calls.intervals import Array

# Stretches that are wanted, and rows of each.
PARTS, PART_ROWS = 8, 25_000

Columns = tuple[Array, ...]


class Stretches:
    """Keeps stretches of some columns: of no more than PARTS of them all rows, as one stretch.

    Args:
        rows: How many rows a stretch has.
    """

    def __init__(self, rows: int = PART_ROWS) -> None:
        self._rows, self._stride, self._count = rows, 1, 0
        self._kept: dict[int, list[Columns]] = {}

    def add(self, *columns: Array) -> None:
        """Add rows."""
        place, count = 0, len(columns[0])
        while place < count:
            number, within = divmod(self._count, self._rows)
            taken = min(self._rows - within, count - place)
            if number % self._stride == 0:
                part = tuple(values[place : place + taken].copy() for values in columns)
                self._kept.setdefault(number, []).append(part)
            self._count, place = self._count + taken, place + taken
            if len(self._kept) > 2 * PARTS:
                self._stride *= 2
                self._kept = {at: parts for at, parts in self._kept.items() if at % self._stride == 0}

    def parts(self) -> list[Columns]:
        """Return them in order: all rows as one, or PARTS of whole stretches."""
        if not self._kept:
            return []
        if self._count <= PARTS * self._rows:
            return [_joined([part for parts in self._kept.values() for part in parts])]
        whole = [_joined(parts) for parts in self._kept.values()]
        whole = [part for part in whole if len(part[0]) == self._rows]
        chosen = np.linspace(0, len(whole) - 1, PARTS).round().astype(int)
        return [whole[place] for place in chosen.tolist()]


def _joined(parts: Sequence[Columns]) -> Columns:
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))
