"""What every view of a session on emulated storage begins with: its times are a model's."""

from __future__ import annotations

from tfdarshan.reports.text.summary_text import emulated_as, emulated_times, emulated_title
from tfdarshan.reports.views.panel import Panel, Text
from tfdarshan.reports.views.view_source import Source

NO_CACHE = "Emulated storage has no page cache."
MOST_CHARACTERS = 200


def emulation_banner(*sources: Source) -> list[Panel]:
    """Gives a warning for each of a view's sessions whose storage was emulated."""
    several = len(sources) > 1
    return [_warning(source, named=several) for source in sources if source.emulation is not None]


def _warning(source: Source, *, named: bool) -> Text:
    emulation = source.emulation
    assert emulation is not None
    title = f"{emulated_title(emulation)}, {emulated_as(emulation, MOST_CHARACTERS)}"
    if named:
        title = f"{source.whole.path.name}: {title}"
    return Text([emulated_times(emulation)], title, tone="warning", inline=True)
