"""Bandwidth and calls over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tfdarshan.analysis.activity import PARTS
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import META, READ, WRITE, Segments
from tfdarshan.analysis.time_bins import TimeBins, count_starts, spread, whole
from tfdarshan.sessions.process_data import ProcessData

if TYPE_CHECKING:
    from tfdarshan.analysis.activity import OverviewPart

NS_PER_S = 1e9


def bandwidth(segments: Segments, bins: TimeBins) -> pd.DataFrame:
    """Gives what was moved in each part of time, a call's bytes spread evenly over its duration.

    Returns:
        One row per part: `start_ns`, `end_ns`; `calls` that started in it; `bytes_read`, `bytes_written`,
        all int64; `read_bytes_per_s`, `write_bytes_per_s` (float64). The bytes add up to those of the
        segments exactly, as long as none of them reaches out of the parts.
    """
    calls, moved = np.zeros(bins.count), np.zeros((2, bins.count))
    for part in segments.blocks():
        start, end = bins.clipped(part.start_ns, part.end_ns)
        calls += count_starts(bins, np.zeros(len(start), np.int64), 1, start)[0]
        io_class = part.io_class.astype(np.int64)
        moving = np.flatnonzero(io_class != META)
        amount = _inside(part, bins, moving)
        (sums,) = spread(bins, io_class[moving], 2, start[moving], end[moving], [amount])
        moved += sums
    return bandwidth_table(bins, calls.astype(np.int64), whole(moved))


def bandwidth_of_overview(processes: Sequence[ProcessData], count: int = PARTS) -> pd.DataFrame:
    """Gives `bandwidth` over the whole session from the overview tables, whatever the number of segments.

    Calls whose segments a bound dropped are not in it.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    from tfdarshan.analysis.activity import overview_bins, overview_parts

    sums = BandwidthSums(overview_bins(processes, count))
    for part in overview_parts(processes):
        sums.add(part)
    return sums.table()


class BandwidthSums:
    """Adds up the calls and bytes of overview tables in parts of time.

    Args:
        bins: The parts of time.
    """

    def __init__(self, bins: TimeBins) -> None:
        self._bins = bins
        self._calls, self._moved = np.zeros(bins.count), np.zeros((2, bins.count))

    def add(self, part: OverviewPart) -> None:
        """Adds a process's rows."""
        place, count = part.places(self._bins), self._bins.count
        self._calls += np.bincount(place, part.count, minlength=count)
        for io_class in (READ, WRITE):
            chosen = part.io_class == io_class
            self._moved[io_class] += np.bincount(place[chosen], part.bytes_moved[chosen], minlength=count)

    def table(self) -> pd.DataFrame:
        """Gives `bandwidth_table` of what was added."""
        return bandwidth_table(self._bins, self._calls.astype(np.int64), self._moved.astype(np.int64))


def _inside(segments: Segments, bins: TimeBins, moving: Array) -> Array:
    """Gives the bytes of the part of each call that lies inside the parts of time."""
    start, end = segments.start_ns[moving], segments.end_ns[moving]
    kept = np.minimum(end, bins.end_ns) - np.maximum(start, bins.start_ns)
    length = segments.length[moving]
    cut = length * (np.maximum(kept, 0) / np.maximum(end - start, 1))
    inside: Array = np.where(kept >= end - start, length, cut)
    return inside


def bandwidth_table(bins: TimeBins, calls: Array, moved: Array) -> pd.DataFrame:
    """Makes the table of calls and bytes of each part, `moved` of shape (2, parts)."""
    edges, seconds = bins.edges_ns(), bins.bin_ns / NS_PER_S
    return pd.DataFrame(
        {
            "start_ns": edges[:-1],
            "end_ns": edges[1:],
            "calls": calls,
            "bytes_read": moved[READ],
            "bytes_written": moved[WRITE],
            "read_bytes_per_s": moved[READ] / seconds,
            "write_bytes_per_s": moved[WRITE] / seconds,
        }
    )
