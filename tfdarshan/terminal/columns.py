"""Columns of text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence


class Columns:
    """Places cells below each other.

    Args:
        parts: From left to right. An int is a column: its width in characters, negative for cells that stand
            at its left, 0 for cells as long as they are. A str stands in each line as it is.
    """

    def __init__(self, *parts: int | str) -> None:
        self._parts = parts
        self._count = sum(isinstance(part, int) for part in parts)

    def row(self, *cells: int | str) -> str:
        """Gives a line, without blanks at its end.

        A cell wider than its column moves what follows. An int has commas. The last cells may be left out.

        Raises:
            ValueError: There are more cells than columns.
        """
        if len(cells) > self._count:
            raise ValueError(f"{len(cells)} cells for {self._count} columns")
        left = iter(cells)
        return "".join(
            part if isinstance(part, str) else _cell(next(left, ""), part) for part in self._parts
        ).rstrip(" ")


def fitted(rows: Sequence[Sequence[str]]) -> list[str]:
    """Gives a line for each row, all of as many cells; each column is as wide as its widest cell."""
    widths = [-max(map(len, column)) for column in zip(*rows, strict=True)]
    columns = Columns(*(part for width in widths for part in (width, "  ")))
    return [columns.row(*row) for row in rows]


def _cell(value: int | str, width: int) -> str:
    text = value if isinstance(value, str) else f"{value:,}"
    return text.rjust(width) if width > 0 else text.ljust(-width)
