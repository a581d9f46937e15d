"""Room for the values of several batches that are read at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.batch import Batch

# What TensorFlow takes without a copy begins at a multiple of it.
ALIGNMENT = 64


class BatchRoom:
    """One buffer, in which each batch begins at a multiple of 64 bytes.

    Attributes:
        numbers: Which records, shape (n,).
        places: Where the value of each goes in the buffer, shape (n,), in bytes.
        buffer: What they are read into.
    """

    def __init__(self, numbers: NDArray[np.uint64], sizes: NDArray[np.uint32], batch: int) -> None:
        """Plan batches of `batch` of the records `numbers`, of which `sizes` has those of all, in bytes."""
        count = max(len(numbers), 1)
        batch = min(batch, count)
        self.numbers, self._batch = numbers, batch
        ends = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(sizes[numbers], out=ends[1:])
        self._ends = ends
        self._firsts = np.arange(0, count, batch)
        bounds = np.append(ends[self._firsts], ends[-1])
        padded = -(-np.diff(bounds) // ALIGNMENT) * ALIGNMENT
        self._begins = np.cumsum(padded) - padded
        shifts = np.repeat(self._begins - bounds[:-1], batch)[: len(numbers)]
        self.places = (ends[:-1] + shifts).astype(np.uint64)
        self.buffer = _aligned(int(padded.sum()))

    def batches(self) -> list[Batch]:
        """Return the batches, which are views of the buffer; one that is empty if there are no records."""
        places = zip(self._firsts.tolist(), self._begins.tolist(), strict=True)
        return [self._one(first, begin) for first, begin in places]

    def _one(self, first: int, begin: int) -> Batch:
        offsets = self._ends[first : first + self._batch + 1] - self._ends[first]
        buffer = self.buffer[begin : begin + int(offsets[-1])]
        return Batch(self.numbers[first : first + self._batch], buffer, offsets)


def _aligned(size: int) -> NDArray[np.uint8]:
    room = np.empty(size + ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT
    return room[first : first + size]
