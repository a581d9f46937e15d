"""What views draw over the whole session's time, from one look at the overview tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from tfdarshan.analysis.calls.overview_rows import OverviewPart, overview_parts
from tfdarshan.analysis.calls.some_segments import OverviewWrites
from tfdarshan.analysis.steps.checkpoint_bursts import GAP_NS, LEAST_BYTES
from tfdarshan.analysis.time.activity import overview_bins
from tfdarshan.analysis.time.bandwidth import BandwidthSums, all_calls
from tfdarshan.analysis.time.untraced import unknown_from_ns, untraced_sums
from tfdarshan.sessions.process_data import ProcessData


@dataclass(frozen=True)
class OverviewTimes:
    """Calls and writes against time.

    Attributes:
        bandwidth: Calls and bytes in each part of time, as `bandwidth` gives them: of all calls, up to
            when some are unknown.
        marks: Where checkpoints began (`start_ns`), to within a bin of the overview: `write_spans`.
    """

    bandwidth: pd.DataFrame
    marks: pd.DataFrame


def overview_times(processes: Sequence[ProcessData], count: int) -> OverviewTimes:
    """Read each overview table once.

    Args:
        processes: The processes.
        count: Parts of time.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    sums = OverviewSums(processes, count)
    for part in overview_parts(processes):
        sums.add(part)
    return sums.times()


class OverviewSums:
    """Adds them up, of overview tables that somebody reads.

    Args:
        processes: The processes.
        count: Parts of time.
    """

    def __init__(self, processes: Sequence[ProcessData], count: int) -> None:
        self._processes, self._bins = processes, overview_bins(processes, count)
        self._bandwidth, self._writes = BandwidthSums(self._bins), OverviewWrites()

    def add(self, part: OverviewPart) -> None:
        """Add a process's rows."""
        self._bandwidth.add(part)
        self._writes.add(part)

    def times(self) -> OverviewTimes:
        """Return what was added, and what calls without a segment did."""
        unknown_ns = unknown_from_ns([process.meta for process in self._processes])
        untraced = untraced_sums(self._processes, self._bins)
        bandwidth = all_calls(self._bandwidth.table(), untraced, unknown_ns)
        return OverviewTimes(bandwidth, self._writes.spans(GAP_NS, LEAST_BYTES))
