"""Sums over recorded calls, in C: one look at each call, whatever the number of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdarshan.native._extension import aggregate

if TYPE_CHECKING:
    from tfdarshan.native._aggregate import FFI

Array = np.ndarray[Any, np.dtype[Any]]

# Columns of sums by part of time.
BIN_SUMS = 4
BIN_CALLS, BIN_BYTES, BIN_BYTE_PARTS, BIN_BUSY_NS = range(BIN_SUMS)
PARTS_OF_A_BYTE = 1 << 32
# Size buckets of calls, the last one of those that move no bytes, and columns of sums by duration.
SIZES, DURATION_SUMS = 12, 4
DURATION_CELLS, CELLS_OF_OCTAVE = 28_160, 512


@dataclass(frozen=True)
class Calls:
    """Calls in order of start: int64 arrays of one length, and the class of each, uint8, META for neither."""

    start_ns: Array
    end_ns: Array
    length: Array
    io_class: Array

    def __post_init__(self) -> None:
        """Lay the arrays out as C takes them."""
        for name in ("start_ns", "end_ns", "length", "io_class"):
            dtype = np.uint8 if name == "io_class" else np.int64
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))

    def __len__(self) -> int:
        return len(self.start_ns)


def add_spread(sums: Array, calls: Calls, group: Array, bins: tuple[int, int, int]) -> None:
    """Spread calls evenly over their durations, and add that to sums.

    Args:
        sums: By group and part of time, int64 of shape (groups, parts, BIN_SUMS).
        calls: The calls.
        group: Each call's group, int32.
        bins: Parts of time: where the first one begins, how long each is, in ns, and how many there are.
    """
    if sums.size:
        ffi, lib = aggregate()
        parts = ffi.new("struct tfd_bins *", bins)
        lib.tfd_spread_calls(_calls(calls), _in(ffi, group, np.int32), parts, _out(ffi, sums))


class DurationSums:
    """Adds up calls that did not fail by kind and size.

    Args:
        operations: How many kinds there are.

    Attributes:
        rows: Calls, bytes, durations and the longest duration, int64 of shape (kinds * SIZES, DURATION_SUMS).
        cells: How many calls lasted how long, int64 of shape (kinds * SIZES, DURATION_CELLS).
    """

    def __init__(self, operations: int) -> None:
        self.rows = np.zeros((operations * SIZES, DURATION_SUMS), np.int64)
        # No memory is taken for what stays 0.
        self.cells = np.zeros((operations * SIZES, DURATION_CELLS), np.int64)

    def add(self, calls: Calls, operation: Array, error: Array) -> None:
        """Add calls.

        Args:
            calls: The calls.
            operation: Each call's kind, uint8.
            error: Each call's errno, int16.
        """
        ffi, lib = aggregate()
        kinds = _in(ffi, operation, np.uint8), _in(ffi, error, np.int16)
        sums = _out(ffi, self.rows), _out(ffi, self.cells)
        lib.tfd_add_durations(_calls(calls), *kinds, *sums)


def cell_start_ns(cell: Array) -> Array:
    """Return the shortest duration of each cell, int64."""
    octave, within = np.divmod(cell.astype(np.int64), CELLS_OF_OCTAVE)
    start: Array = np.where(octave == 0, within, (within + CELLS_OF_OCTAVE) << np.maximum(octave - 1, 0))
    return start


def _calls(calls: Calls) -> Any:
    """Return C's view of calls; their arrays have to live as long."""
    ffi, _ = aggregate()
    fields = (calls.start_ns, calls.end_ns, calls.length, calls.io_class)
    views = [ffi.from_buffer(f"{values.dtype.name}_t[]", values) for values in fields]
    return ffi.new("struct tfd_calls *", [*views, len(calls)])


def _in(ffi: FFI, values: Array, dtype: type) -> Any:
    kind = np.dtype(dtype)
    # The view keeps the array that it is of, which may be a copy.
    return ffi.from_buffer(f"{kind.name}_t[]", np.ascontiguousarray(values, kind))


def _out(ffi: FFI, values: Array) -> Any:
    return ffi.from_buffer("int64_t[]", values, require_writable=True)
