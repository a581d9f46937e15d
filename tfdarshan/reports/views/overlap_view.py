"""What every view of one of several sessions that overlap in time begins with."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.reports.views.panel import Panel, Text
from tfdarshan.sessions.overlap import MOST_NAMED


def overlap_banner(others: Sequence[str]) -> list[Panel]:
    """Return a warning that names the other sessions; nothing where there are none."""
    if not others:
        return []
    named = ", ".join(others[:MOST_NAMED])
    more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
    title = f"1 of {len(others) + 1:,} sessions that overlap in time"
    return [Text([f"Not in these figures: {named}{more}."], title, tone="warning")]
