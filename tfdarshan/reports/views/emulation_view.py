"""What every view of a session on emulated storage begins with: its times are simulated."""

from __future__ import annotations

from tfdarshan.reports.text.summary_text import emulated_as, emulated_times, emulated_title
from tfdarshan.reports.views.panel import Panel, Text
from tfdarshan.reports.views.view_source import Source

NO_CACHE = "Emulated storage has no page cache."
MOST_CHARACTERS = 200


def emulation_banner(*sources: Source) -> list[Panel]:
    """Return a warning for each of a view's sessions whose storage was emulated, one if all were alike."""
    said = [(source, _title(source)) for source in sources if source.emulation is not None]
    if len(sources) > 1 and len(said) == len(sources) and len({title for _, title in said}) == 1:
        times = emulated_times(said[0][0].emulation or {}).partition(":")[0].rstrip(".")
        return [Text([f"{times}."], f"{said[0][1]} in both", tone="warning", inline=True)]
    return [_warning(source, title, named=len(sources) > 1) for source, title in said]


def _title(source: Source) -> str:
    emulation = source.emulation
    assert emulation is not None
    return f"{emulated_title(emulation)}, {emulated_as(emulation, MOST_CHARACTERS)}"


def _warning(source: Source, title: str, *, named: bool) -> Text:
    assert source.emulation is not None
    title = f"{source.whole.path.name}: {title}" if named else title
    return Text([emulated_times(source.emulation)], title, tone="warning", inline=True)
