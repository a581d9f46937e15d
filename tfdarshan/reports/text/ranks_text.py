"""Words the ranks of a job: a row each, those that wait longest first."""

from __future__ import annotations

from tfdarshan.analysis.rank_table import RankFigures, RankTable
from tfdarshan.file_name import printable
from tfdarshan.terminal.columns import fitted
from tfdarshan.units import human_bytes, human_seconds, plural

HEADINGS = ("rank", "host", "waits a step", "a step", "read", "in calls", "files")
MOST_OF_HOST = 24


def rank_lines(table: RankTable | None, most: int) -> list[str]:
    """Gives the lines; none for a session of one process.

    Args:
        table: The ranks.
        most: How many are listed.
    """
    if table is None:
        return []
    rows = sorted(table.ranks, key=_order)
    lines = fitted([HEADINGS, *map(_cells, rows[:most])])
    if len(rows) > most:
        lines.append(f"and {plural(len(rows) - most, 'more rank')}")
    return [line.rstrip() for line in lines]


def _order(row: RankFigures) -> tuple[float, float, int]:
    return -(row.wait_s or 0.0), -(row.io_s or row.input_s), row.rank


def _cells(row: RankFigures) -> tuple[str, ...]:
    host = printable(row.host)
    host = host if len(host) <= MOST_OF_HOST else f"{host[: MOST_OF_HOST - 3]}..."
    wait, step = ("-" if value is None else human_seconds(value) for value in (row.wait_s, row.step_s))
    calls = "-" if row.io_s is None else human_seconds(row.io_s)
    return f"{row.rank}", host, wait, step, human_bytes(row.bytes_read), calls, f"{row.files:,}"
