"""What every view begins with: whose times they are, and which part of the session they cover."""

from __future__ import annotations

from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.reports.views.emulation_view import emulation_banner
from tfdarshan.reports.views.panel import Panel, Text
from tfdarshan.reports.views.view_source import Source


def banner(*sources: Source) -> list[Panel]:
    """Return warnings for a view's sessions: storage that was emulated, and a trace that was cut short."""
    return [*emulation_banner(*sources), *_cut_traces(*sources)]


def _cut_traces(*sources: Source) -> list[Panel]:
    found: list[Panel] = []
    for source in sources:
        span = trace_span(source.session.meta)
        if span is not None:
            named = f"{source.whole.path.name}: " if len(sources) > 1 else ""
            title = f"{named}The trace covers a part of the session"
            found.append(Text([span.sentence], title, tone="warning"))
    return found
