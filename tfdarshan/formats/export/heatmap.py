"""Bytes read and written over time as HEATMAP records: one per module and process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.file_records import Rank
from tfdarshan.formats.export.transfers import Transfers, rank_numbers, transfers_of
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import Array

MODULES = ("POSIX", "STDIO")
# Calls over several bins that are spread at a time: a matrix of so many rows.
SPREAD_ROWS = 4096


@dataclass(frozen=True)
class Bins:
    """Equal parts of the job's time, the same for all records of a log."""

    width_s: float
    count: int


def choose_bins(duration_s: float) -> Bins:
    """Return bins as Darshan chooses them: 0.1 s wide, or twice as often as it takes to need 200 at most."""
    width_s = darshan_format.FIRST_BIN_WIDTH_S
    while duration_s > width_s * darshan_format.MAX_HEATMAP_BINS:
        width_s *= 2
    return Bins(width_s, max(1, math.ceil(duration_s / width_s)))


def heatmap_name(module: str) -> bytes:
    """Return the name of a module's heatmap, by which readers know it."""
    return f"heatmap:{module}".encode()


def heatmap_records(ranks: Sequence[Rank], bins: Bins, was_read: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the records of every module and rank that moved something, as Darshan does.

    `was_read` is told the rows read.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for module in MODULES:
        sums: dict[int, Array] = {}
        for rank in ranks:
            transfers = transfers_of(rank.process, module, was_read)
            numbers = rank_numbers(rank, transfers)
            for number in np.unique(numbers).tolist():
                moved = _moved(transfers, numbers == number, bins)
                sums[number] = sums[number] + moved if number in sums else moved
        name = _bridge.record_id(heatmap_name(module))
        yield from (_record(name, number, moved, bins) for number, moved in sums.items() if moved.any())


def bytes_per_bin(start_s: Array, end_s: Array, length: Array, bins: Bins) -> Array:
    """Spread each call's bytes evenly over its duration; the bins' sum is exact.

    Args:
        start_s: Starts, in seconds since the job's.
        end_s: Ends, in seconds; what is after the last bin counts there.
        length: Bytes moved.
        bins: The bins.

    Returns:
        int64 array of shape (bins.count,).
    """
    last = bins.count - 1
    first_bin = np.clip(start_s // bins.width_s, 0, last).astype(np.int64)
    last_bin = np.clip(end_s // bins.width_s, first_bin, last).astype(np.int64)
    inside = first_bin == last_bin
    # Of no calls at all bincount gives integers, whatever the weights are.
    sums = np.bincount(first_bin[inside], length[inside], minlength=bins.count).astype(np.float64)
    edges = np.arange(1, bins.count + 1) * bins.width_s
    edges[-1] = math.inf
    across = np.flatnonzero(~inside)
    for first in range(0, len(across), SPREAD_ROWS):
        rows = across[first : first + SPREAD_ROWS]
        elapsed_s = (end_s[rows] - start_s[rows])[:, None]
        share = np.clip((edges - start_s[rows][:, None]) / elapsed_s, 0, 1)
        sums += np.diff((share * length[rows][:, None]).sum(axis=0), prepend=0)
    whole: Array = np.diff(np.rint(np.cumsum(sums)), prepend=0).astype(np.int64)
    return whole


def _moved(transfers: Transfers, chosen: Array, bins: Bins) -> Array:
    """Return the bytes written and the bytes read: an array of shape (2, bins.count)."""
    return np.stack(
        [
            bytes_per_bin(
                transfers.start_ns[rows] / 1e9, transfers.end_ns[rows] / 1e9, transfers.length[rows], bins
            )
            for rows in (chosen & ~transfers.is_read, chosen & transfers.is_read)
        ]
    )


def _record(name: int, rank: int, moved: Array, bins: Bins) -> bytes:
    head = np.zeros((), darshan_format.HEATMAP_RECORD)
    head["id"], head["rank"] = name, rank
    head["bin_width_s"], head["bins"] = bins.width_s, bins.count
    return head.tobytes() + moved.tobytes()
