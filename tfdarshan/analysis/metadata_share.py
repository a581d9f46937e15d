"""How much of the calls, and of the time in them, was spent on names and positions instead of data."""

from __future__ import annotations

from dataclasses import dataclass


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
