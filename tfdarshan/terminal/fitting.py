"""Lines that fit a terminal: what a verb prints is folded where a line is wider."""

from __future__ import annotations

import re
import sys
from typing import IO, Any

from tfdarshan.terminal.wrapping import TIED, tied

COLOUR = re.compile(r"\x1b\[\d*m")
# A command is whole, so that it can be copied.
COMMAND = re.compile(r"(?:\x1b\[\d*m| )*(?:[a-z ]+: )?tfdarshan (?!session )")
# Cells of a table stand apart by two blanks and more; words by one.
GAPS = re.compile(r"( {2,})")
HANG = 2


class FittedStream:
    """A stream to a terminal whose lines are folded where they are wider.

    Args:
        stream: Where to.
        width: How many characters a line may have. A longer word, such as a path, is whole on its own line.
    """

    def __init__(self, stream: IO[str], width: int) -> None:
        self.whole = stream
        self._width = width
        self._begun = ""

    def write(self, text: str) -> int:
        """Write the lines that are ended; the rest when it is, or when the stream is flushed."""
        *lines, self._begun = (self._begun + text).split("\n")
        self.whole.write("".join(f"{folded}\n" for line in lines for folded in fold(line, self._width)))
        return len(text)

    def flush(self) -> None:
        """Write all that was given."""
        begun, self._begun = self._begun, ""
        self.whole.write(begun)
        self.whole.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


def write_whole(text: str) -> None:
    """Write a text on stdout whose lines are as they have to be, such as lines of a program."""
    stream = sys.stdout
    if isinstance(stream, FittedStream):
        stream.flush()
        stream.whole.write(text)
    else:
        stream.write(text)


def fold(line: str, width: int) -> list[str]:
    """Return a line as several that fit, the others indented by two more.

    A line ends between cells of a table, and between words where a cell does not fit a line of its own.
    """
    if _seen(line) <= width or COMMAND.match(line):
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))]
    hang = indent + " " * HANG if len(indent) < width // 2 else " " * HANG
    cells = GAPS.split(tied(line[len(indent) :]))
    lines: list[str] = []
    last = indent
    for gap, cell in zip(["", *cells[1::2]], cells[::2], strict=True):
        last = _add(lines, last, gap, cell, hang, width)
    return [found.replace(TIED, " ").rstrip(" ") for found in (*lines, last)]


def _add(lines: list[str], last: str, gap: str, cell: str, hang: str, width: int) -> str:
    """Add a cell to the last line, or to lines after it; return the last line then."""
    if _seen(last + gap + cell) <= width:
        return last + gap + cell
    if last.strip():
        lines.append(last)
        last, gap = hang, ""
    for word in cell.split(" "):
        if last.strip() and _seen(last + gap + word) > width:
            lines.append(last)
            last, gap = hang, ""
        last, gap = last + gap + word, " "
    return last


def _seen(text: str) -> int:
    """Return how many characters are seen."""
    return len(COLOUR.sub("", text))
