"""Colours and width of a terminal; none, and a fixed width, where text goes anywhere else."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

WIDTH = 100
NARROWEST, WIDEST = 50, 120
BOLD, DIM, RED, GREEN = 1, 2, 31, 32


@dataclass(frozen=True)
class Paint:
    """Give text the look it has on a terminal; the same text where `coloured` is false."""

    coloured: bool = False
    width: int = WIDTH

    def bold(self, text: str) -> str:
        """Return what comes first."""
        return self._in(BOLD, text)

    def dim(self, text: str) -> str:
        """Return what may be passed over."""
        return self._in(DIM, text)

    def removed(self, text: str) -> str:
        """Return a line of a change that goes."""
        return self._in(RED, text)

    def added(self, text: str) -> str:
        """Return a line of a change that comes."""
        return self._in(GREEN, text)

    def _in(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.coloured and text else text


def paint_for(stream: IO[str] | None) -> Paint:
    """Return what suits a stream, None for a closed one.

    Colours are for a terminal only, and not where NO_COLOR is set (no-color.org).
    """
    if stream is None or not stream.isatty():
        return Paint()
    coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return Paint(coloured, min(max(columns_of(stream, WIDTH), NARROWEST), WIDEST))


def columns_of(stream: IO[str], unknown: int) -> int:
    """Return the width of a stream's terminal: COLUMNS, what the terminal says, or `unknown`."""
    with suppress(ValueError):
        if (given := int(os.environ.get("COLUMNS", "0"))) > 0:
            return given
    with suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(stream.fileno()).columns or unknown
    return unknown
