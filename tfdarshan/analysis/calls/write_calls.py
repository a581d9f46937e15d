"""Writes and syncs out of all calls: they are few beside reads, and kept as long as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND, kind_codes
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import WRITE, Segments, joined_segments, load_segments

# Writes that are kept: some 50 bytes each.
MOST_WRITES = 1 << 22


@dataclass(frozen=True)
class WriteCalls:
    """Writes and syncs.

    Attributes:
        segments: They, in order of start; none if there are too many.
        too_many: Whether there are more than are kept.
    """

    segments: Segments
    too_many: bool


class KeptWrites:
    """Keeps writes and syncs that come block by block, in order of start.

    Args:
        most: How many are kept; of a job that makes more none are.
    """

    def __init__(self, most: int = MOST_WRITES) -> None:
        self._most, self._count = most, 0
        self._parts = [load_segments([], [])]

    def add(self, block: Segments) -> None:
        """Add a block of calls."""
        places = _wanted(block)
        self._count += len(places)
        # Places, not a slice, which would hold the whole block in memory.
        part = block.where(places if self._count <= self._most else places[:0])
        self._parts = [*self._parts, part] if self._count <= self._most else [part]

    def calls(self) -> WriteCalls:
        """Return them."""
        return WriteCalls(joined_segments(self._parts), self._count > self._most)


def _wanted(block: Segments) -> Array:
    """Return the places of writes and syncs: most blocks have none of these kinds."""
    kinds = kind_codes(block.operations)
    of_class = np.array([operation.io_class == WRITE for operation in block.operations] or [False])
    wanted = np.flatnonzero(of_class | (kinds == KIND["write"]) | (kinds == KIND["sync"]))
    found = np.zeros(len(block), bool)
    for operation in wanted.tolist():
        found |= block.operation == operation
    return np.flatnonzero(found)
