"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR = 30
REDRAW_S = 0.1


class Progress:
    """Draws `label [####....] done/total` on stderr where that is a terminal; a context manager."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._drawn_s = 0.0
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Shows how far it is; at most every tenth of a second."""
        now_s = time.monotonic()
        if not self._terminal or (done < total and now_s - self._drawn_s < REDRAW_S):
            return
        self._drawn_s = now_s
        filled = "#" * (BAR * done // max(total, 1))
        text = f"{self._label} [{filled:.<{BAR}}] {done:,}/{total:,} {note}"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
