"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any
from weakref import WeakSet

from tfdarshan.terminal.paint import columns_of

_REDRAW_EVERY_S = 0.1
# Work shorter than this is not worth a line on somebody's terminal.
LONG_WORK_S = 1.0
_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {n:,}/{total:,} [{elapsed}<{remaining}]"


class Progress:
    """Draws `label 25%|##   | done/total [passed<left]` on stderr if that is a terminal.

    Use it in a `with` statement: the line is cleared at the end, however that comes. tqdm draws it, which is
    imported when the first bar is due. Whatever fails in drawing, the work goes on without a bar.

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
        self._began_s = clock()
        self._due_s = self._began_s + after_s
        self._bar: Any = None
        self._failed = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._try(self._bar.close)

    def __call__(self, done: int, total: int) -> None:
        """Redraw the bar, at most ten times a second."""
        now_s = self._clock()
        if now_s < self._due_s or self._failed or not _is_terminal():
            return
        self._due_s = now_s + _REDRAW_EVERY_S
        self._try(lambda: self._draw(done, max(done, total), now_s))

    def _draw(self, done: int, total: int, now_s: float) -> None:
        if self._bar is None:
            # With a delay, however short, the first line is drawn here and not while the bar is made.
            self._bar = _bar_class()(
                desc=self._label, total=total, file=sys.stderr, leave=False, ncols=_columns(), nrows=2,
                bar_format=_FORMAT, delay=1e-9,
            )  # fmt: skip
            self._bar.start_t -= now_s - self._began_s
        self._bar.n, self._bar.total = done, total
        self._bar.refresh()

    def _try(self, draw: Callable[[], object]) -> None:
        """The bar is no reason for anything to fail."""
        try:
            draw()
        except Exception:
            self._failed = True
            if self._bar is not None:
                self._bar.disable = True


def counter(progress: Callable[[int, int], None], total: int) -> Callable[[int], None]:
    """Return a function that is told how much more of `total` is done."""
    done = 0

    def add(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return add


@cache
def _bar_class() -> Any:
    """Return tqdm without what it would bring into somebody's job: a thread, a semaphore and its own bars."""
    from tqdm.std import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0
        _instances: WeakSet[Any] = WeakSet()

    Bar.set_lock(threading.RLock())
    return Bar


def _columns() -> int:
    """Return the terminal's width, 80 if it does not say: for a width of 0 tqdm draws nothing."""
    return columns_of(sys.stderr, 80)


def _is_terminal() -> bool:
    """Return whether stderr is one; a program may have closed it, or have none."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
