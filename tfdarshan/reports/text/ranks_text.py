"""Words the ranks of a job: a row each, those that wait longest first."""

from __future__ import annotations

from tfdarshan.analysis.ranks.rank_table import RankFigures, RankTable
from tfdarshan.file_name import printable
from tfdarshan.sessions.joint_session import ONE_CLOCK
from tfdarshan.terminal.columns import fitted_columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, plural

HEADINGS = ("rank", "host", "waits a step", "a step", "read", "in calls", "files")
MOST_OF_HOST = 24


def rank_lines(table: RankTable | None, most: int, width: int = WIDTH) -> list[str]:
    """Return the lines; none for a session of one process.

    Args:
        table: The ranks.
        most: How many are listed.
        width: How many characters a line may have.
    """
    if table is None:
        return []
    rows = sorted(table.ranks, key=_order)
    # The line that says that there is one more is as long as that one.
    most = len(rows) if len(rows) == most + 1 else most
    cells = [HEADINGS, *map(_cells, rows[:most])]
    if any(row.clock != ONE_CLOCK for row in rows):
        clocks = ["clock", *map(_clock, rows[:most])]
        cells = [(*row, clock) for row, clock in zip(cells, clocks, strict=True)]
    layout = Layout(fitted_columns(cells), cells, width, least=(6, 5, 4))
    lines = [*layout.all_lines(cells), *wrap(layout.note(), width)]
    if len(rows) > most:
        lines.append(f"and {plural(len(rows) - most, 'more rank')}")
    return lines


def _clock(row: RankFigures) -> str:
    """Word by how much a rank's times were moved, and by how much that may be off."""
    if row.clock_error_s is None:
        return "unknown"
    sign = "+" if row.clock_offset_s >= 0 else "-"
    return f"{sign}{human_seconds(abs(row.clock_offset_s))} ±{human_seconds(row.clock_error_s)}"


def _order(row: RankFigures) -> tuple[float, float, int]:
    return -(row.wait_s or 0.0), -(row.io_s or row.input_s), row.rank


def _cells(row: RankFigures) -> tuple[str, ...]:
    host = printable(row.host)
    host = host if len(host) <= MOST_OF_HOST else f"{host[: MOST_OF_HOST - 3]}..."
    wait, step = ("-" if value is None else human_seconds(value) for value in (row.wait_s, row.step_s))
    calls = "-" if row.io_s is None else human_seconds(row.io_s)
    return f"{row.rank}", host, wait, step, human_bytes(row.bytes_read), calls, f"{row.files:,}"
