"""Values of several records where the file is mapped: nothing is copied before it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.batch import Batch


@dataclass(frozen=True)
class MappedBatch:
    """What a read of cached records gives: used as `Batch` is, which it becomes where it is pickled.

    Values are views of the file, as py-lmdb's with buffers=True are: they are right as long as the index that
    holds the transaction is open. `buffer` and `tolist` are copies.

    Attributes:
        numbers: Which records, shape (n,).
        file: The whole file.
        begins: Where each value begins in it, shape (n,), in bytes.
        ends: Where each ends, shape (n,).
    """

    numbers: NDArray[np.uint64]
    file: memoryview
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each value begins in the buffer, and where the last one ends, shape (n + 1,), in bytes."""
        return np.append(np.int64(0), np.cumsum(self.ends - self.begins))

    @cached_property
    def buffer(self) -> NDArray[np.uint8]:
        """Their values' bytes, one after the other."""
        return np.frombuffer(bytearray().join(self), np.uint8)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: int) -> memoryview:
        """Return a value without a copy."""
        return self.file[self.begins[place] : self.ends[place]]

    def __iter__(self) -> Iterator[memoryview]:
        file = self.file
        return (file[begin:end] for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True))

    def tolist(self) -> list[bytes]:
        """Return the values as bytes, each a copy."""
        return list(map(bytes, self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Batch, (self.numbers, self.buffer, self.offsets)
