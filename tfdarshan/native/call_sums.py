"""Sums over recorded calls, by the C core: one look at each call, whatever the number of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdarshan.native._extension import core

if TYPE_CHECKING:
    from tfdarshan.native._core import FFI

Array = np.ndarray[Any, np.dtype[Any]]

# Columns of sums by group: of each class its calls, bytes, durations and union, and the union of all.
GROUP_SUMS = 13
CALLS, MOVED, LASTED, UNITED, UNION = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12), 12
# Columns of sums by part of time.
BIN_SUMS = 4
BIN_CALLS, BIN_BYTES, BIN_BYTE_PARTS, BIN_BUSY_NS = range(BIN_SUMS)
PARTS_OF_A_BYTE = 1 << 32
# Size buckets of calls, the last one of those that move no bytes, and columns of sums by duration.
SIZES, DURATION_SUMS = 12, 4
DURATION_CELLS, CELLS_OF_OCTAVE = 28_160, 512
NEVER_NS, EVER_NS = -(1 << 63), 1 << 62


@dataclass(frozen=True)
class Calls:
    """Calls in order of start: int64 arrays of one length, and the class of each, uint8, META for neither.

    What of them is before `from_ns`, or from `until_ns` on, is cut off where time is added up.
    """

    start_ns: Array
    end_ns: Array
    length: Array
    io_class: Array
    from_ns: int = -EVER_NS
    until_ns: int = EVER_NS

    def __post_init__(self) -> None:
        """Lays the arrays out as the C core takes them."""
        for name in ("start_ns", "end_ns", "length", "io_class"):
            dtype = np.uint8 if name == "io_class" else np.int64
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def times_ns(self) -> tuple[Array, Array]:
        """Starts and ends as they are cut."""
        return np.maximum(self.start_ns, self.from_ns), np.minimum(self.end_ns, self.until_ns)


def group_sums(calls: Calls, guests: int, group: Array, groups: int) -> Array:
    """Adds up calls by group, int64 of shape (groups, GROUP_SUMS).

    Args:
        calls: The calls.
        guests: Of the first so many only the time counts.
        group: Each call's group, int32.
        groups: How many groups there are.
    """
    sums = np.zeros((groups, GROUP_SUMS), np.int64)
    reached = np.full((groups, 4), NEVER_NS)
    ffi, lib = core()
    lib.tfd_add_to_groups(
        _calls(calls), guests, _in(ffi, group, np.int32), _out(ffi, sums), _out(ffi, reached)
    )
    return sums


def spread_sums(calls: Calls, group: Array, groups: int, bins: tuple[int, int, int]) -> Array:
    """Spreads calls evenly over their durations, int64 of shape (groups, parts, BIN_SUMS).

    Args:
        calls: The calls.
        group: Each call's group, int32.
        groups: How many groups there are.
        bins: Parts of time: where the first one begins, how long each is, in ns, and how many there are.
    """
    sums = np.zeros((groups, bins[2], BIN_SUMS), np.int64)
    if not bins[2]:
        return sums
    ffi, lib = core()
    lib.tfd_spread_calls(
        _calls(calls), _in(ffi, group, np.int32), ffi.new("struct tfd_bins *", bins), _out(ffi, sums)
    )
    return sums


def deepest(calls: Calls, bins: tuple[int, int, int]) -> Array:
    """Gives the highest number of calls that were running at a moment of each part of time, int64.

    Args:
        calls: The calls; one that takes no time runs for 1 ns.
        bins: As `spread_sums` takes them.
    """
    most = np.zeros(bins[2], np.int64)
    # No more memory is taken than calls run at a time.
    room = np.empty(len(calls), np.int64)
    ffi, lib = core()
    parts = ffi.new("struct tfd_bins *", bins)
    lib.tfd_find_deepest(_calls(calls), parts, _out(ffi, room), _out(ffi, most))
    return most


def duration_sums(calls: Calls, operation: Array, error: Array, operations: int) -> tuple[Array, Array]:
    """Adds up calls that did not fail by kind and size.

    Args:
        calls: The calls.
        operation: Each call's kind, uint8.
        error: Each call's errno, int16.
        operations: How many kinds there are.

    Returns:
        Calls, bytes, durations and the longest duration, int64 of shape (kinds * SIZES, DURATION_SUMS); and
        how many calls lasted how long, int64 of shape (kinds * SIZES, DURATION_CELLS).
    """
    sums = np.zeros((operations * SIZES, DURATION_SUMS), np.int64)
    # No memory is taken for what stays 0.
    cells = np.zeros((operations * SIZES, DURATION_CELLS), np.int64)
    ffi, lib = core()
    kinds = _in(ffi, operation, np.uint8), _in(ffi, error, np.int16)
    lib.tfd_add_durations(_calls(calls), *kinds, _out(ffi, sums), _out(ffi, cells), ffi.NULL)
    return sums, cells


def duration_cells(calls: Calls, operation: Array, error: Array) -> Array:
    """Gives each call's place among all cells of `duration_sums`, int32; -1 if it failed."""
    place = np.empty(len(calls), np.int32)
    ffi, lib = core()
    kinds = _in(ffi, operation, np.uint8), _in(ffi, error, np.int16)
    lib.tfd_add_durations(_calls(calls), *kinds, ffi.NULL, ffi.NULL, _out(ffi, place, "int32_t[]"))
    return place


def cell_start_ns(cell: Array) -> Array:
    """Gives the shortest duration of each cell, int64."""
    octave, within = np.divmod(cell.astype(np.int64), CELLS_OF_OCTAVE)
    start: Array = np.where(octave == 0, within, (within + CELLS_OF_OCTAVE) << np.maximum(octave - 1, 0))
    return start


def _calls(calls: Calls) -> Any:
    """Gives the C core's view of calls; their arrays have to live as long."""
    ffi, _ = core()
    fields = (calls.start_ns, calls.end_ns, calls.length, calls.io_class)
    views = [ffi.from_buffer(f"{values.dtype.name}_t[]", values) for values in fields]
    return ffi.new("struct tfd_calls *", [*views, len(calls), calls.from_ns, calls.until_ns])


def _in(ffi: FFI, values: Array, dtype: type) -> Any:
    kind = np.dtype(dtype)
    # The view keeps the array that it is of, which may be a copy.
    return ffi.from_buffer(f"{kind.name}_t[]", np.ascontiguousarray(values, kind))


def _out(ffi: FFI, values: Array, kind: str = "int64_t[]") -> Any:
    return ffi.from_buffer(kind, values, require_writable=True)
