"""Bandwidth and calls over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import CLASSES, READ, WRITE, Segments
from tfdarshan.analysis.time.untraced import UntracedSums
from tfdarshan.native.call_sums import BIN_BUSY_NS, BIN_CALLS
from tfdarshan.sessions.writing.time_bins import TimeBins, whole_bytes_in

if TYPE_CHECKING:
    from tfdarshan.analysis.calls.overview_rows import OverviewPart

NS_PER_S = 1e9


def bandwidth(segments: Segments, bins: TimeBins) -> pd.DataFrame:
    """Return what was moved in each part of time, a call's bytes spread evenly over its duration.

    Returns:
        One row per part: `start_ns`, `end_ns`; `calls` that started in it; `bytes_read`, `bytes_written`,
        all int64; `read_bytes_per_s`, `write_bytes_per_s`, and `depth`, the calls at a time (float64). The
        bytes add up to those of the segments exactly, as long as none of them reaches out of the parts.
    """
    sums = bins.no_sums(len(CLASSES))
    for part in segments.blocks():
        bins.add(sums, part.calls, part.io_class)
    calls, busy_ns = (sums[..., column].sum(axis=0) for column in (BIN_CALLS, BIN_BUSY_NS))
    return _bandwidth_table(bins, calls, whole_bytes_in(sums), busy_ns)


class BandwidthSums:
    """Adds up the calls and bytes of overview tables in parts of time.

    Args:
        bins: The parts of time.
    """

    def __init__(self, bins: TimeBins) -> None:
        self._bins = bins
        self._calls, self._busy_ns = np.zeros(bins.count), np.zeros(bins.count)
        self._moved = np.zeros((2, bins.count))

    def add(self, part: OverviewPart) -> None:
        """Add a process's rows."""
        place, count = part.places(self._bins), self._bins.count
        self._calls += np.bincount(place, part.count, minlength=count)
        self._busy_ns += np.bincount(place, part.busy_ns, minlength=count)
        for io_class in (READ, WRITE):
            chosen = part.io_class == io_class
            self._moved[io_class] += np.bincount(place[chosen], part.bytes_moved[chosen], minlength=count)

    def table(self) -> pd.DataFrame:
        """Return the table of what was added."""
        calls, moved = self._calls.astype(np.int64), self._moved.astype(np.int64)
        return _bandwidth_table(self._bins, calls, moved, self._busy_ns)


def all_calls(table: pd.DataFrame, untraced: UntracedSums, unknown_from_ns: int | None) -> pd.DataFrame:
    """Return `bandwidth` of all calls, up to when some are unknown.

    Args:
        table: That of the segments.
        untraced: What the other calls did in the same parts.
        unknown_from_ns: When the first unknown call began, None if all are known.
    """
    known = table["end_ns"] <= (table["end_ns"].max() if unknown_from_ns is None else unknown_from_ns)
    lasted_ns = table["end_ns"] - table["start_ns"]
    added = {
        "calls": untraced.calls,
        "bytes_read": untraced.bytes_read,
        "bytes_written": untraced.bytes_written,
        "read_bytes_per_s": untraced.bytes_read / lasted_ns * NS_PER_S,
        "write_bytes_per_s": untraced.bytes_written / lasted_ns * NS_PER_S,
        "depth": untraced.busy_ns / lasted_ns,
    }
    return table.assign(**{name: table[name] + more for name, more in added.items()})[known]


def _bandwidth_table(bins: TimeBins, calls: Array, moved: Array, busy_ns: Array) -> pd.DataFrame:
    """Make the table of calls and bytes of each part, `moved` by class of calls."""
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
            "depth": busy_ns / bins.bin_ns,
        }
    )
