"""How a notebook shows a session: key numbers and bandwidth, as HTML that needs no script."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from tfdarshan.analysis.bandwidth import bandwidth_of_overview
from tfdarshan.reports.figures.theme import READ, WRITE
from tfdarshan.reports.text.summary_text import emulated_as, emulated_times
from tfdarshan.units import human_bytes, human_rate, human_seconds, percent

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.sessions.session_data import SessionData

PARTS, WIDTH, HEIGHT = 120, 720, 90
MOST_CHARACTERS = 200
CELL = "padding:2px 18px 2px 0;text-align:left"


def session_html(session: SessionData) -> str:
    """Gives the session's key numbers, bandwidth over time and slowest files.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    from tfdarshan.analysis.summary_data import summarize

    data = summarize(session)
    clock, calls = data.wall_clock, (data.posix, data.stdio)
    read, written = sum(c.bytes_read for c in calls), sum(c.bytes_written for c in calls)
    in_io = (
        "-"
        if clock.io_s is None
        else f"{clock.at_most}{human_seconds(clock.io_s)} ({percent(clock.io_s, data.duration_s)})"
    )
    rows = [
        ("duration", human_seconds(data.duration_s)),
        ("time in I/O", in_io),
        ("read", f"{human_bytes(read)}{clock.at_rate}{human_rate(read, clock.read_s or 0)}"),
        ("written", f"{human_bytes(written)}{clock.at_rate}{human_rate(written, clock.write_s or 0)}"),
        ("files", f"{data.files:,}"),
        ("calls", f"{data.calls:,}"),
    ]
    numbers = "".join(f"<th style='{CELL}'>{name}</th>" for name, _ in rows)
    values = "".join(f"<td style='{CELL}'>{html.escape(value)}</td>" for _, value in rows)
    slowest = "".join(
        f"<tr><td style='{CELL}'>{human_seconds(entry.time_s)}</td>"
        f"<td style='{CELL}'>{html.escape(entry.path)}</td></tr>"
        for entry in data.slowest_files
    )
    return (
        f"<div><b>tfdarshan session {html.escape(data.session)}</b>{_emulation(data.emulation)}"
        f"{'' if data.trace_span is None else f'<div>{html.escape(data.trace_span.sentence)}</div>'}"
        f"<table><tr>{numbers}</tr><tr>{values}</tr></table>"
        f"{_bars(bandwidth_of_overview(session.processes, PARTS))}"
        f"<table><tr><th style='{CELL}'>time</th><th style='{CELL}'>slowest files</th></tr>"
        f"{slowest}</table></div>"
    )


def _emulation(emulation: dict[str, Any] | None) -> str:
    if emulation is None:
        return ""
    said = f"Emulated storage, {emulated_as(emulation, MOST_CHARACTERS)}. {emulated_times(emulation)}"
    return f"<div>{html.escape(said)}</div>"


def _bars(table: pd.DataFrame) -> str:
    """Draws bytes per second, read above written."""
    read, written = table["read_bytes_per_s"].to_numpy(), table["write_bytes_per_s"].to_numpy()
    most = float((read + written).max(initial=0))
    if most == 0:
        return ""
    step, bars = WIDTH / PARTS, []
    for place, (of_read, of_written) in enumerate(zip(read.tolist(), written.tolist(), strict=True)):
        low, high = HEIGHT * of_written / most, HEIGHT * of_read / most
        for height, below, colour in ((low, 0.0, WRITE), (high, low, READ)):
            if height > 0:
                bars.append(
                    f"<rect x='{place * step:.1f}' y='{HEIGHT - below - height:.1f}' width='{step:.1f}' "
                    f"height='{height:.1f}' fill='{colour}'/>"
                )
    label = f"bandwidth over time, at most {human_bytes(most)}/s (read and written)"
    return (
        f"<div>{label}</div><svg width='{WIDTH}' height='{HEIGHT}' role='img' aria-label='{label}'>"
        f"{''.join(bars)}</svg>"
    )
