"""In which order files are read, in C: one look at each read, whatever there is in memory."""

from __future__ import annotations

import numpy as np

from tfdarshan.native._extension import aggregate
from tfdarshan.native.call_sums import Array
from tfdarshan.native.input_sums import InputCalls

# Readers that go through one file side by side, each in order.
SIDE_BY_SIDE = 16
# Columns of sums by file.
READS, JUMPS, MOVED, LASTED, MADE, JUMPED = range(6)
SUMS = 6


class ReadOrder:
    """Adds up reads of data that come block by block, in order of start.

    Args:
        in_pieces: Which rows of the file table are looked at for reads that jump about, bool.

    Attributes:
        sums: By file: reads at a known offset, those of them that go on after none of the 16 before them,
            the bytes and durations in ns of the former; all reads; the durations in ns of those that go on
            after none. int64 of shape (files, 6), 0 for files that are not looked at.
    """

    def __init__(self, in_pieces: Array) -> None:
        files, slots = len(in_pieces), int(np.count_nonzero(in_pieces))
        slot = np.full(files, -1, np.int32)
        slot[in_pieces] = np.arange(slots, dtype=np.int32)
        self.sums = np.zeros((files, SUMS), np.int64)
        # Memory is taken for files only that are read.
        tails = [np.zeros((slots, SIDE_BY_SIDE), np.int64) for _ in range(2)]
        arrays: list[Array] = [slot, *tails, self.sums]
        ffi, _ = aggregate()
        views = [ffi.from_buffer(f"{values.dtype.name}_t[]", values) for values in arrays]
        self._views = views
        self._order = ffi.new("struct tfd_read_order *", views)

    def add(self, calls: InputCalls, offset: Array) -> None:
        """Add the reads among calls; an offset that is not known is -1."""
        ffi, lib = aggregate()
        offset = np.ascontiguousarray(offset, np.int64)
        lib.tfd_add_read_order(self._order, calls.as_c(), ffi.from_buffer("int64_t[]", offset))
