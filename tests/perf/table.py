"""Prints rows as Markdown tables that can be read on a terminal too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.perf.row import Row

PAIRED = (
    "what",
    "subject",
    "without",
    "added",
    "quartiles",
    "with / without",
    "CPU added",
    "runs",
    "at most",
)
SINGLE = ("what", "median", "quartiles", "without", "unit", "runs", "at most", "note")


MEASURED = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)


def tables(rows: Sequence[Row]) -> str:
    """Return a titled table for each group, in the order in which the groups appear."""
    groups = dict.fromkeys(row.group for row in rows)
    return "\n".join(_titled(group, [row for row in rows if row.group == group]) for group in groups)


def page_tables(rows: Sequence[Row]) -> str:
    """Return what a page has of the tables: what is added by each subject side by side, the others whole."""
    groups = dict.fromkeys(row.group for row in rows)
    of_group = {group: [row for row in rows if row.group == group] for group in groups}
    return "\n".join(
        _side_by_side(group, its) if its[0].ratio is not None else _titled(group, its)
        for group, its in of_group.items()
    )


def _side_by_side(group: str, rows: Sequence[Row]) -> str:
    subjects = list(dict.fromkeys(row.subject for row in rows))
    added = {(row.name, row.subject): _number(row.value) for row in rows}
    cells = [("what", *subjects)]
    for name in dict.fromkeys(row.name for row in rows):
        cells.append((name, *(added.get((name, subject), "") for subject in subjects)))
    return f"### {group[0].upper()}{group[1:]}\n\n{_aligned(cells)}"


def replace_measured(page: Path, text: str) -> None:
    """Put `text` between the marks of a page of the documentation.

    Raises:
        ValueError: The page has no such marks.
    """
    filled, count = MEASURED.subn(lambda _: f"{text.rstrip()}\n", page.read_text(encoding="utf-8"))
    if not count:
        raise ValueError(f"{page} has no part between <!-- measured --> and <!-- end of measured -->")
    page.write_text(filled, encoding="utf-8")


def _titled(group: str, rows: Sequence[Row]) -> str:
    paired = any(row.ratio is not None for row in rows)
    cells = [PAIRED, *map(_paired_cells, rows)] if paired else [SINGLE, *map(_single_cells, rows)]
    return f"### {group[0].upper()}{group[1:]}\n\n{_aligned(cells)}"


def _paired_cells(row: Row) -> tuple[str, ...]:
    base = "" if row.base is None else _number(row.base)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    added = (_number(row.value), _spread(row), ratio, "" if row.cpu is None else _number(row.cpu))
    return (row.name, row.subject, base, *added, str(row.runs), _wanted(row))


def _single_cells(row: Row) -> tuple[str, ...]:
    base = "" if row.base is None else _number(row.base)
    return (row.name, _number(row.value), _spread(row), base, row.unit, str(row.runs), _wanted(row), row.note)


def _spread(row: Row) -> str:
    return f"{_number(row.low)} to {_number(row.high)}" if row.runs > 1 else ""


def _wanted(row: Row) -> str:
    return "" if row.wanted is None else _number(row.wanted)


def _number(value: float) -> str:
    """Return three or more significant digits."""
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def _aligned(lines: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "".join(map(_line, (lines[0], rule, *lines[1:]), [widths] * (len(lines) + 1)))


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |\n"
