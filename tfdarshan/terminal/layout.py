"""Tables that fit a terminal: columns move together, say less or go where there is no room for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.wrapping import wrap

Cells = Sequence[int | str]
# The least room for a last cell beside the others, in characters, if it may be cut there.
LEAST_ROOM = 24
# Narrower terminals have no room for a column of names beside sentences.
WIDE = 80
HANG = "    "


def fact_lines(facts: Sequence[tuple[str, str]], width: int, names: int, indent: str = "") -> list[str]:
    """Return what is said of each name: in a column beside it, on a narrow terminal after a colon.

    Args:
        facts: Name and text.
        width: How many characters a line may have.
        names: How many the names' column has.
        indent: What lines begin with.
    """
    if width < WIDE:
        return [
            line
            for name, text in facts
            for line in wrap(f"{indent}{name}: {text}", width, hang=f"{indent}  ")
        ]
    hang = " " * (len(indent) + names)
    return [line for name, text in facts for line in wrap(f"{indent}{name:<{names}}{text}", width, hang=hang)]


def begun(text: str, room: int) -> str:
    """Return a text, or its beginning before "..." where it is longer than its room."""
    return text if len(text) <= room else f"{text[: room - 3].rstrip()}..."


class Layout:
    """Lays a table out: as given if its rows fit, else in columns as wide as their cells, else without some.

    Args:
        columns: How it looks where there is room.
        rows: All that it will hold, the heads among them; the first row names the columns.
        width: How many characters a line may have.
        least: Columns that go first, by their place, if there is no room for all.
        cut: Gives a last cell in so many characters; None if it is only shown whole, on several lines where
            there is room for some words. Without room beside the others, last cells stand below them.
        below: Whether last cells may stand there.

    Attributes:
        left_out: The heads of columns that are not shown.
    """

    def __init__(
        self,
        columns: Columns,
        rows: Sequence[Cells],
        width: int,
        least: Sequence[int] = (),
        cut: Callable[[str, int], str] | None = None,
        *,
        below: bool = True,
    ) -> None:
        self._columns, self._width, self._cut = columns, width, cut
        self._shown = list(range(columns.count))
        self._last, self._folds, self._below = columns.count - 1, False, False
        if not self._fits(rows):
            self._columns = columns.squeezed(rows)
        if not self._fits(rows):
            self._folds = below and cut is None and columns.ends_in_text
        if not self._fits(rows):
            self._folds, self._below = False, below and columns.ends_in_text
        for place in least:
            if self._fits(rows):
                break
            self._shown.remove(place)
            self._columns = columns.squeezed(rows, self._shown)
        missing = [place for place in range(columns.count) if place not in self._shown]
        self.left_out = [str(head) for place, head in enumerate(rows[0]) if place in missing and head]

    def lines(self, row: Cells) -> list[str]:
        """Return a row as a line, and what it ends with on others if it has no room there."""
        cells = [row[place] for place in self._shown if place < len(row)]
        if not self._ends_apart(cells):
            return [self._columns.row(*cells)]
        head, last = self._columns.row(*cells[:-1], ".")[:-1], str(cells[-1])
        if self._folds and last:
            return wrap(last, self._width, head, " " * len(head))
        if self._below or self._cut is None:
            return [head.rstrip(" "), *(wrap(last, self._width, HANG) if last else [])]
        return [head + self._cut(last, max(self._width - len(head), 1))]

    def all_lines(self, rows: Sequence[Cells]) -> list[str]:
        """Return the lines of rows."""
        return [line for row in rows for line in self.lines(row)]

    def note(self, where: str = "--json has them") -> str:
        """Return which columns are not shown; "" if all are."""
        if not self.left_out:
            return ""
        return f"Not shown in {self._width} columns: {', '.join(self.left_out)} ({where})."

    def _fits(self, rows: Sequence[Cells]) -> bool:
        return all(self._room_for(row) for row in rows)

    def _room_for(self, row: Cells) -> bool:
        cells = [row[place] for place in self._shown if place < len(row)]
        if not self._ends_apart(cells):
            return len(self._columns.row(*cells)) <= self._width
        if self._below:
            return len(self._columns.row(*cells[:-1])) <= self._width
        head = len(self._columns.row(*cells[:-1], ".")) - 1
        return head + min(len(str(cells[-1])), LEAST_ROOM) <= self._width

    def _ends_apart(self, cells: Cells) -> bool:
        """Return whether a row's last cell is text that may be cut, folded, or stand below the others."""
        has_last = self._last in self._shown and len(cells) == len(self._shown)
        return has_last and (self._folds or self._below or self._cut is not None)
