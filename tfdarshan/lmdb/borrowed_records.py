"""A data set's records as TensorFlow's op reads them: spans of an order, and how each is read."""

from __future__ import annotations

import threading
import time
import weakref

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.batched_records import READ_BYTES, Records
from tfdarshan.native.lmdb_file import LentFile

# How storage is to be read is looked at anew after so much.
SPAN_BYTES = 1 << 30


class BorrowedRecords:
    """Knows for each span of a data set which records it has, and has them read as the storage wants it.

    Attributes:
        records: What is read.
        lent: The data file.
        spans: How many an epoch has.
        batches_ahead: How many batches may be read at once.
    """

    def __init__(self, records: Records, lent: LentFile) -> None:
        """Plan the spans of `records`, whose file is `lent`."""
        self.records, self.lent = records, lent
        weakref.finalize(self, lent.take_back).atexit = False
        count = len(records.order(0))
        batch_bytes = max(int(records.index.sizes.mean() * records.batch), 1) if count else 1
        self._span = max(SPAN_BYTES // batch_bytes, 1) * records.batch
        self._window = max(records.most_read_bytes // batch_bytes, 1) * records.batch
        self.spans = -(-count // self._span)
        self.batches_ahead = int(np.clip(READ_BYTES // batch_bytes, 2, 16))
        self._lock = threading.Lock()
        self._epoch: tuple[int, NDArray[np.uint64]] | None = None
        self._began: tuple[float, int] | None = None

    def begin(self) -> np.int64:
        """Begin another iteration; return the number of its first epoch."""
        return np.int64(self.records.begin())

    def numbers(self, first: int, span: int) -> NDArray[np.int64]:
        """Return the records of a span, and decide how they are read.

        Args:
            first: The number of the iteration's first epoch.
            span: Which one, counted over all its epochs.

        Raises:
            DataFileError: The file is damaged, or was written to meanwhile.
            StorageError: It cannot be read.
        """
        epoch, part = divmod(int(span), self.spans)
        with self._lock:
            epoch += int(first)
            if self._epoch is None or self._epoch[0] != epoch:
                self._epoch = (epoch, self.records.order(epoch))
            numbers = self._epoch[1][part * self._span : (part + 1) * self._span]
            self._decide(numbers)
        return numbers.astype(np.int64)

    def _decide(self, numbers: NDArray[np.uint64]) -> None:
        """Have the index measure where it has not, and tell the op."""
        index, now_s = self.records.index, time.perf_counter()
        if self._began is not None:
            index.add_read(self._began[1], now_s - self._began[0])
        reading = index.settle(numbers, self._window)
        self._began = (time.perf_counter(), int(index.sizes[numbers].sum(dtype=np.int64)))
        self.lent.set_reading(
            0 if reading.takes_turns else reading.in_flight,
            cached=reading.from_cache,
            takes_turns=reading.takes_turns or self.records.takes_turns,
            window=0 if reading.from_cache else self._window,
        )
