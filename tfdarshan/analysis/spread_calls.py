"""Calls spread over parts of time, as rows that merge: whole bytes, and parts of a byte of 2 to the 32nd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.named_rows import NamedRows, merged_rows, named_rows
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.native.call_sums import (
    BIN_BYTE_PARTS,
    BIN_BYTES,
    PARTS_OF_A_BYTE,
    Calls,
    spread_sums,
)


def as_c(bins: TimeBins) -> tuple[int, int, int]:
    """Gives parts of time as the C core takes them."""
    return bins.start_ns, bins.bin_ns, bins.count


def spread_rows(calls: Calls, group: Array, names: Sequence[Any], bins: TimeBins) -> NamedRows:
    """Spreads calls evenly over their durations: by group, BIN_SUMS numbers of each part of time."""
    return _whole_bytes(named_rows(names, spread_sums(calls, group, len(names), as_c(bins))))


def merged_spread(one: NamedRows, other: NamedRows) -> NamedRows:
    """Adds up two."""
    return _whole_bytes(merged_rows(one, other))


def bytes_of(rows: Array) -> Array:
    """Gives bytes with their parts, float64, of rows of BIN_SUMS numbers."""
    moved: Array = rows[..., BIN_BYTES] + rows[..., BIN_BYTE_PARTS] / PARTS_OF_A_BYTE
    return moved


def rounded_bytes(rows: Array) -> Array:
    """Rounds bytes of rows of BIN_SUMS numbers to whole ones that add up to the rounded total, int64."""
    parts = np.rint(np.cumsum(rows[..., BIN_BYTE_PARTS]) / PARTS_OF_A_BYTE).astype(np.int64)
    return np.diff(np.cumsum(rows[..., BIN_BYTES]) + parts, prepend=0)


def _whole_bytes(over_time: NamedRows) -> NamedRows:
    """Makes whole bytes of parts: there is one way to say an amount."""
    rows = over_time.rows.copy()
    rows[..., BIN_BYTES] += rows[..., BIN_BYTE_PARTS] // PARTS_OF_A_BYTE
    rows[..., BIN_BYTE_PARTS] %= PARTS_OF_A_BYTE
    return NamedRows(over_time.names, rows)
