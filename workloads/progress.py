"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import time

_BAR_WIDTH = 30
_REDRAW_EVERY_S = 0.1


class Progress:
    """Draws `label [#####.....] done/total` on stderr where that is a terminal."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._drawn_s = 0.0

    def __call__(self, done: int, total: int) -> None:
        now_s = time.monotonic()
        if not sys.stderr.isatty() or (done < total and now_s - self._drawn_s < _REDRAW_EVERY_S):
            return
        self._drawn_s = now_s
        filled = "#" * (_BAR_WIDTH * done // max(total, 1))
        end = "\n" if done >= total else ""
        print(
            f"\r{self._label} [{filled:.<{_BAR_WIDTH}}] {done}/{total}", end=end, file=sys.stderr, flush=True
        )
