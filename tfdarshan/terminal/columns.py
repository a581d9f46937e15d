"""Columns of text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "  "


class Columns:
    """Places cells below each other.

    Args:
        parts: From left to right. An int is a column: its width in characters, negative for cells that stand
            at its left, 0 for cells as long as they are. A str stands in each line as it is.

    Attributes:
        count: How many columns there are.
    """

    def __init__(self, *parts: int | str) -> None:
        self._parts = parts
        self.count = sum(isinstance(part, int) for part in parts)

    @property
    def ends_in_text(self) -> bool:
        """Whether its last cells are as long as they are."""
        return self._parts[-1] == 0

    def squeezed(self, rows: Sequence[Sequence[int | str]], shown: Sequence[int] | None = None) -> Columns:
        """Return columns as wide as the cells of rows, two blanks apart; only those of the shown places."""
        shown = range(self.count) if shown is None else shown
        widths = [part for part in self._parts if isinstance(part, int)]
        indent = self._parts[0] if isinstance(self._parts[0], str) else ""
        parts: list[int | str] = [indent]
        for place in shown:
            cells = (row[place] for row in rows if place < len(row))
            widest = max((len(_cell(cell, 0)) for cell in cells), default=0)
            parts += [widest if widths[place] > 0 else -widest if widths[place] else 0, GAP]
        return Columns(*parts[:-1])

    def row(self, *cells: int | str) -> str:
        """Return a line, without blanks at its end.

        A cell wider than its column moves what follows: a blank parts it from the cell before. An int has
        commas. The last cells may be left out.

        Raises:
            ValueError: There are more cells than columns.
        """
        if len(cells) > self.count:
            raise ValueError(f"{len(cells)} cells for {self.count} columns")
        left, line = iter(cells), ""
        for part in self._parts:
            if isinstance(part, str):
                line += part
                continue
            text = _cell(next(left, ""), part)
            line += f" {text}" if _touch(line, text) else text
        return line.rstrip(" ")


def fitted_columns(rows: Sequence[Sequence[str]]) -> Columns:
    """Return columns as wide as their widest cells, for rows that all have as many."""
    widths = [-max(map(len, column)) for column in zip(*rows, strict=True)]
    return Columns(*(part for width in widths for part in (width, GAP)))


def fitted(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, all of as many cells; each column is as wide as its widest cell."""
    columns = fitted_columns(rows)
    return [columns.row(*row) for row in rows]


def _touch(line: str, text: str) -> bool:
    """Return whether nothing would part a text from the line before: two numbers would be read as one."""
    return bool(line and text) and not (line.endswith(" ") or text.startswith(" "))


def _cell(value: int | str, width: int) -> str:
    text = value if isinstance(value, str) else f"{value:,}"
    return text.rjust(width) if width > 0 else text.ljust(-width)
