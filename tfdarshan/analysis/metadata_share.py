"""How much of the calls, and of the time in them, was spent on names and positions instead of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.segments import META, Segments
from tfdarshan.analysis.wall_clock import WallClock


@dataclass(frozen=True)
class MetadataShare:
    """Open, close, stat, seek and the like against all calls.

    Attributes:
        calls: Such calls among the segments.
        all_calls: All segments.
        meta_s: Wall-clock seconds with at least one such call running, None if unknown.
        io_s: Wall-clock seconds with any call running, None if unknown.
        thread_share: Their share of the calls' durations added up, 0 to 1; None without segments.
    """

    calls: int
    all_calls: int
    meta_s: float | None
    io_s: float | None
    thread_share: float | None


def metadata_share(segments: Segments, clock: WallClock) -> MetadataShare:
    """Measures it: counts and thread time from the segments, wall-clock time as the summary has it."""
    meta = segments.io_class == META
    duration = segments.end_ns - segments.start_ns
    total = int(duration.sum())
    share = int(duration[meta].sum()) / total if total else None
    return MetadataShare(int(np.count_nonzero(meta)), len(meta), clock.meta_s, clock.io_s, share)
