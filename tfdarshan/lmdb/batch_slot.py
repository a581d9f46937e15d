"""Shared memory that a batch is handed over in, from the process that reads to a worker."""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.mapped_batch import MappedBatch

WORD = 8


def most_batch_bytes(sizes: NDArray[np.uint32], batch: int) -> int:
    """Return what the largest batch of any order can take, in bytes."""
    largest = np.partition(sizes, max(len(sizes) - batch, 0))[-batch:] if len(sizes) else sizes
    return int(largest.sum(dtype=np.int64)) + (2 * batch + 1) * WORD


class BatchSlot:
    """Room for one batch: its numbers, its offsets, its buffer."""

    def __init__(self, room_bytes: int) -> None:
        # Pages are taken when they are written to.
        self._memory = mmap.mmap(-1, max(room_bytes, 1))

    def put(self, batch: Batch | MappedBatch) -> int:
        """Copy a batch in; return how many records it has."""
        count, at = len(batch), 0
        for part in (batch.numbers.data, batch.offsets.data, *_pieces(batch)):
            if part.nbytes:
                self._memory[at : at + part.nbytes] = part.cast("B")
            at += part.nbytes
        return count

    def take(self, count: int) -> Batch:
        """Return a copy of the batch of so many records."""
        words = np.frombuffer(self._memory, np.uint64, 2 * count + 1)
        numbers, offsets = words[:count].copy(), words[count:].astype(np.int64)
        buffer = np.frombuffer(self._memory, np.uint8, int(offsets[-1]), words.nbytes).copy()
        return Batch(numbers, buffer, offsets)


def _pieces(batch: Batch | MappedBatch) -> list[memoryview]:
    """Return the buffer as it can be copied once."""
    return list(batch) if isinstance(batch, MappedBatch) else [batch.buffer.data]
