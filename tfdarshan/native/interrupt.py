"""Ctrl-C while a session is started or written: it waits until that is done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

from tfdarshan.native import _extension


class HeldInterrupt:
    """Holds back the first Ctrl-C in a `with` statement, whose end raises it; a second one strikes at once.

    A handler of the job's own runs as ever, and other threads than the main one are never struck.

    Args:
        say: Called when one is held back.
    """

    def __init__(self, say: Callable[[], None]) -> None:
        self._say = say
        self._came = False
        self._holds = False

    def __enter__(self) -> None:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._holds = True
            signal.signal(signal.SIGINT, self._hold)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()
        if self._came and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt

    def _hold(self, _number: int, _frame: FrameType | None) -> None:
        if self._came:
            self._let_go()
            raise KeyboardInterrupt
        self._came = True
        self._say()

    def _let_go(self) -> None:
        if self._holds and signal.getsignal(signal.SIGINT) == self._hold:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def keep_pythons_end() -> None:
    """See to it that a program that Ctrl-C has ended ends by SIGINT.

    Python notes that it has to, and code that runs in exit functions can make it forget.
    """
    at_a_prompt = hasattr(sys, "ps1")
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not at_a_prompt:
        end_by_interrupt()


def end_by_interrupt() -> None:
    """Have the process end by SIGINT, as Python's own do, once the interpreter has ended.

    What an exit function raises, Python prints and forgets.
    """
    _extension.core().lib.tfd_end_by_interrupt()
