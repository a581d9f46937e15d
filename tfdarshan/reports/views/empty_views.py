"""Which views have nothing to show of a session, as far as its sums tell."""

from __future__ import annotations

from tfdarshan.analysis.steps.checkpoint_bursts import LEAST_BYTES
from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.reports.views.view_source import Source


def empty_views(source: Source) -> list[str]:
    """Return the names in VIEWS that a page leaves out: those that are empty for certain."""
    data = source.summary
    empty = {
        "patterns": not _calls(data) and not data.calls,
        "checkpoints": not source.ledger and data.bytes_written < LEAST_BYTES,
    }
    return [name for name, is_empty in empty.items() if is_empty]


def _calls(data: SummaryData) -> int:
    modules = (data.posix, data.stdio)
    return sum(module.opens + module.reads + module.writes for module in modules) + (data.posix.stats or 0)
