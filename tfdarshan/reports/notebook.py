"""How a notebook shows a session: the verdict, key numbers and bandwidth, as HTML that needs no script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tfdarshan.analysis.time.overview_times import overview_times
from tfdarshan.analysis.time.untraced import untraced_sentence
from tfdarshan.file_name import printable
from tfdarshan.reports.figures.theme import READ, WRITE
from tfdarshan.reports.text.summary_text import emulated_as, emulated_times, emulated_title, told_apart
from tfdarshan.terminal.paint import Paint
from tfdarshan.units import human_bytes, human_rate, human_seconds, percent

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template

    from tfdarshan.analysis.files.file_totals import FileEntry
    from tfdarshan.analysis.summary_data import SummaryData
    from tfdarshan.sessions.session_data import SessionData

PARTS, WIDTH, HEIGHT = 120, 720, 90
MOST_CHARACTERS = 200
HEADS = ("slowest files", "time", "reads", "read", "bandwidth", "written")
TABLES = "All of them: session.files_brief; training steps: session.steps_brief (pandas, units in names)"
CELL = "padding:2px 18px 2px 0;text-align:left"


def session_html(session: SessionData) -> str:
    """Return the verdict with its fix, key numbers, bandwidth over time and slowest files.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    from tfdarshan.findings.diagnosis import summary_and_diagnosis
    from tfdarshan.reports.text.answer_text import change_lines, explanation_lines, step_bar

    data, diagnosis = summary_and_diagnosis(session, top=5)
    clock, read, written = data.wall_clock, data.bytes_read, data.bytes_written
    in_io = (
        "-"
        if clock.io_s is None
        else f"{clock.at_most}{human_seconds(clock.io_s)} ({percent(clock.io_s, data.duration_s)})"
    )
    numbers = [
        ("duration", human_seconds(data.duration_s)),
        ("time in I/O", in_io),
        ("read", f"{human_bytes(read)}{clock.at_rate}{human_rate(read, clock.read_s or 0)}"),
        ("written", f"{human_bytes(written)}{clock.at_rate}{human_rate(written, clock.write_s or 0)}"),
        ("files", f"{'at least ' if data.files_over_cap else ''}{data.files:,}"),
        ("calls", f"{data.calls:,}"),
    ]
    table = overview_times(session.processes, PARTS).bandwidth
    return _template().render(
        session=printable(data.session),
        verdict=printable(diagnosis.verdict.sentence),
        change="\n".join(change_lines(diagnosis, Paint())),
        step="\n".join(step_bar(diagnosis, Paint())),
        sentences=[
            *map(printable, diagnosis.verdict.notes),
            *explanation_lines(diagnosis, Paint(width=MOST_CHARACTERS)),
            *map(printable, _sentences(data)),
            *filter(None, [untraced_sentence(session.meta, "bytes per second are")]),
        ],
        numbers=numbers,
        bandwidth=f"bandwidth over time, at most {human_bytes(_most(table))}/s (read and written)",
        bars=_bars(table),
        slowest=[_cells(entry, data) for entry in data.slowest_files],
        heads=HEADS,
        tables=TABLES,
        cell=CELL,
        width=WIDTH,
        height=HEIGHT,
    )


def _cells(entry: FileEntry, data: SummaryData) -> tuple[str, ...]:
    """Word a file as `session.files_brief` has it; of several processes, by process."""
    return (
        printable(entry.path) + told_apart(entry, data),
        human_seconds(entry.time_s),
        f"{entry.reads:,}",
        human_bytes(entry.bytes_read),
        human_rate(entry.bytes_read, entry.read_s),
        human_bytes(entry.bytes_written),
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(Path(__file__).with_name("notebook.html.jinja").read_text("utf-8"))


def _sentences(data: SummaryData) -> Iterator[str]:
    if data.emulation is not None:
        storage = emulated_as(data.emulation, MOST_CHARACTERS)
        yield f"{emulated_title(data.emulation)}, {storage}. {emulated_times(data.emulation)}"
    if data.trace_span is not None:
        yield data.trace_span.sentence


@dataclass(frozen=True)
class Bar:
    """A rectangle of the drawing, in its pixels."""

    x: float
    y: float
    width: float
    height: float
    colour: str


def _most(table: pd.DataFrame) -> float:
    both = table["read_bytes_per_s"].to_numpy() + table["write_bytes_per_s"].to_numpy()
    return float(both.max(initial=0))


def _bars(table: pd.DataFrame) -> list[Bar]:
    """Draw bytes per second, read above written; nothing if there were none."""
    most, step, bars = _most(table), WIDTH / PARTS, []
    if most == 0:
        return []
    read, written = table["read_bytes_per_s"].tolist(), table["write_bytes_per_s"].tolist()
    for place, (of_read, of_written) in enumerate(zip(read, written, strict=True)):
        low, high = HEIGHT * of_written / most, HEIGHT * of_read / most
        for height, below, colour in ((low, 0.0, WRITE), (high, low, READ)):
            if height > 0:
                bars.append(Bar(place * step, HEIGHT - below - height, step, height, colour))
    return bars
