"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

_BAR_WIDTH = 30
_REDRAW_EVERY_S = 0.1
# Work shorter than this is not worth a line on somebody's terminal.
LONG_WORK_S = 1.0


class Progress:
    """Draws `label [#####.....] done/total` on stderr where that is a terminal.

    Use it in a `with` statement: the line is cleared at the end, however that comes.

    Args:
        label: What is being done.
        after_s: Nothing is drawn earlier than so many seconds after the start.
        clock: Gives seconds.
    """

    def __init__(
        self, label: str, *, after_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._label = label
        self._clock = clock
        self._due_s = clock() + after_s
        self._drawn = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            _print("\r\033[K")

    def __call__(self, done: int, total: int) -> None:
        """Redraws the bar, at most ten times a second."""
        now_s = self._clock()
        if now_s < self._due_s or not _is_terminal():
            return
        self._due_s = now_s + _REDRAW_EVERY_S
        self._drawn = True
        filled = "#" * (_BAR_WIDTH * done // max(total, 1))
        _print(f"\r{self._label} [{filled:.<{_BAR_WIDTH}}] {done:,}/{total:,}")

    def counter(self, total: int) -> Callable[[int], None]:
        """Gives a function that is told how much more of `total` is done."""
        done = 0

        def add(more: int) -> None:
            nonlocal done
            done += more
            self(done, total)

        return add


def _is_terminal() -> bool:
    """Says whether stderr is one; a program may have closed it, or have none."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def _print(text: str) -> None:
    """The bar is no reason for anything to fail."""
    with suppress(OSError, ValueError):
        print(text, end="", file=sys.stderr, flush=True)
