"""Equal parts of a stretch of time, and what calls did in each.

A call's bytes are spread evenly over its duration: counted at its start, one long read would look like a
burst that no device can give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.native.call_sums import (
    BIN_BYTE_PARTS,
    BIN_BYTES,
    BIN_SUMS,
    PARTS_OF_A_BYTE,
    Calls,
    add_spread,
)
from tfdarshan.native.spool_reader import Array


@dataclass(frozen=True)
class TimeBins:
    """`count` parts of `bin_ns` each, from `start_ns` on."""

    start_ns: int
    bin_ns: int
    count: int

    @property
    def end_ns(self) -> int:
        """The end of the last part."""
        return self.start_ns + self.bin_ns * self.count

    def edges_ns(self) -> Array:
        """Return the bounds of the parts, int64 of shape (count + 1,)."""
        return self.start_ns + self.bin_ns * np.arange(self.count + 1, dtype=np.int64)

    def no_sums(self, groups: int) -> Array:
        """Return the sums over no calls, by group: BIN_SUMS numbers of each part, int64."""
        return np.zeros((groups, self.count, BIN_SUMS), np.int64)

    def add(self, sums: Array, calls: Calls, group: Array) -> None:
        """Add calls to sums by group; what of them is outside of all parts is left out."""
        add_spread(sums, calls, group, (self.start_ns, self.bin_ns, self.count))


def bins_over(start_ns: int, end_ns: int, count: int) -> TimeBins:
    """Divide a stretch of time into `count` parts of at least 1 ns; the last may reach over its end."""
    return TimeBins(start_ns, max(1, -(-(end_ns - start_ns) // count)), count)


def bytes_in(sums: Array) -> Array:
    """Return the bytes of each part, float64."""
    moved: Array = sums[..., BIN_BYTES] + sums[..., BIN_BYTE_PARTS] / PARTS_OF_A_BYTE
    return moved


def whole_bytes_in(sums: Array) -> Array:
    """Round the bytes of each part to whole ones that add up to the rounded total, int64."""
    parts = np.rint(np.cumsum(sums[..., BIN_BYTE_PARTS], axis=-1) / PARTS_OF_A_BYTE).astype(np.int64)
    return np.diff(np.cumsum(sums[..., BIN_BYTES], axis=-1) + parts, axis=-1, prepend=0)
