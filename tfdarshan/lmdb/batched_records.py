"""The records of a data set, in batches, read ahead in the background."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.index import Index
from tfdarshan.lmdb.mapped_batch import MappedBatch
from tfdarshan.lmdb.measured_reading import CACHE_LOOK_BYTES
from tfdarshan.lmdb.record_order import Shuffle
from tfdarshan.lmdb.shared_choice import turn

# A read ahead is of so much, so that neighbours are merged and all threads have something to do.
READ_BYTES = 16 << 20
READS_AHEAD = 2
# Of a device that seeks, more at a time has more neighbours in it: a jump takes as long as a megabyte.
SEEKING_READ_BYTES = 64 << 20
# What the page cache has is copied when it is asked for. NumPy asks for huge pages from 4 MiB on; much more
# has left the processor's cache before it is used.
CACHED_READ_BYTES = 5 << 20


@dataclass
class Passes:
    """How many iterations over some records, and over parts of them, have begun in this process."""

    begun: int = 0


@dataclass(frozen=True)
class Records:
    """Which records a data set has, in which order, and how many at a time.

    Attributes:
        read_bytes: How much is read at a time, in whole batches; None for what merges well.
        takes_turns: Each read waits for those of other readers of the file, also in other processes.
        passes: Counts the iterations, each of which has orders of its own.
    """

    index: Index
    batch: int = 1
    shard: tuple[int, int] = (0, 1)
    shuffle: Shuffle | None = None
    seed: int = 0
    epochs: int | None = 1
    drop_remainder: bool = False
    read_bytes: int | None = None
    takes_turns: bool = False
    passes: Passes = field(default_factory=Passes, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            ConfigurationError: A batch or a number of epochs is below 1.
        """
        if self.batch < 1 or (self.epochs is not None and self.epochs < 1):
            raise ConfigurationError("batch must be at least 1, and epochs at least 1 or None.")
        self.index.order(shard=self.shard, shuffle=self.shuffle)

    def order(self, epoch: int) -> NDArray[np.uint64]:
        """Return the records of an epoch; another order each where they are shuffled."""
        order = self.index.order(shard=self.shard, shuffle=self.shuffle, seed=self.seed + epoch)
        return order[: len(order) // self.batch * self.batch] if self.drop_remainder else order

    def begin(self) -> int:
        """Begin another iteration; return the number of its first epoch."""
        self.passes.begun += 1
        return (self.passes.begun - 1) * (self.epochs or 1)

    def part(self, which: int, parts: int) -> Records:
        """Return a part of the shard, for one worker of several."""
        shard = (self.shard[0] * parts + which, self.shard[1] * parts)
        return replace(self, shard=shard)

    def __iter__(self) -> Iterator[Batch | MappedBatch]:
        epoch, first = 0, self.begin()
        while self.epochs is None or epoch < self.epochs:
            order = self.order(first + epoch)
            if not len(order):
                return
            yield from self.batches(order)
            epoch += 1

    def batches(self, order: NDArray[np.uint64]) -> Iterator[Batch | MappedBatch]:
        """Yield the batches of an order of records, while others are read."""
        # A device that seeks wants one reader, others none that waits for the last part of a read.
        readers = 1 if self.index.threads == 1 else READS_AHEAD
        if self.shuffle == "exact":
            self.index.look(order)  # how much is read at a time follows from it
        with ThreadPoolExecutor(readers, "tfdarshan-lmdb") as reader:
            ahead: list[Future[list[Batch]]] = []
            try:
                for numbers, is_cached in self._reads(order):
                    if is_cached:
                        while ahead:
                            yield from ahead.pop(0).result()
                        mapped = self.index.mapped_batches(numbers, self.batch)
                        yield from mapped or self.index.read_batches(numbers, self.batch)
                        continue
                    ahead.append(reader.submit(self._read, numbers))
                    if len(ahead) > READS_AHEAD:
                        yield from ahead.pop(0).result()
                while ahead:
                    yield from ahead.pop(0).result()
            finally:
                for read in ahead:
                    read.cancel()

    def _read(self, numbers: NDArray[np.uint64]) -> list[Batch]:
        with turn(os.fspath(self.index.path)) if self.takes_turns else nullcontext():
            return self.index.read_batches(numbers, self.batch)

    @property
    def most_read_bytes(self) -> int:
        """How much is read at a time, in bytes."""
        if self.read_bytes is not None:
            return self.read_bytes
        jumps = self.shuffle == "exact" and self.index.reading.takes_turns
        return SEEKING_READ_BYTES if jumps else READ_BYTES

    def _reads(self, order: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.uint64], bool]]:
        """Parts an order into reads of whole batches; says of each whether the page cache should have it."""
        ends = np.cumsum(self.index.sizes[order], dtype=np.int64)
        first = 0
        while first < len(order):
            before = int(ends[first - 1]) if first else 0
            coming = int(np.searchsorted(ends, before + CACHE_LOOK_BYTES, side="right"))
            is_cached = self.index.is_cached(order[first : max(coming, first + 1)])
            read_bytes = min(CACHED_READ_BYTES, READ_BYTES) if is_cached else self.most_read_bytes
            fitting = int(np.searchsorted(ends, before + read_bytes, side="right")) - first
            count = max(fitting // self.batch, 1) * self.batch
            yield order[first : first + count], is_cached
            first += count
