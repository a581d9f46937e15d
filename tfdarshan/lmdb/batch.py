"""Values of several records in one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Batch:
    """What one read gives.

    Attributes:
        numbers: Which records, shape (n,).
        buffer: Their values' bytes, one after the other.
        offsets: Where each value begins in the buffer, and where the last one ends, shape (n + 1,), in bytes.
    """

    numbers: NDArray[np.uint64]
    buffer: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: int) -> memoryview:
        """Return a value without a copy."""
        place = range(len(self))[place]
        return self.buffer.data[self.offsets[place] : self.offsets[place + 1]]

    def __iter__(self) -> Iterator[memoryview]:
        return (self[place] for place in range(len(self)))

    def tolist(self) -> list[bytes]:
        """Return the values as bytes, each a copy."""
        whole, ends = self.buffer.data, self.offsets.tolist()
        return [bytes(whole[begin:end]) for begin, end in pairwise(ends)]
