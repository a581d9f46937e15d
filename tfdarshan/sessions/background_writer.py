"""Writes sessions that have ended in a thread, one after the other, while the job goes on.

Sessions of TensorFlow's profiler are written this way. Readers in the same process wait until all sessions
are written, and so does the interpreter before it ends.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
from collections import deque
from collections.abc import Callable

from tfdarshan.native.interrupt import HeldInterrupt, end_by_interrupt
from tfdarshan.notice import say

Write = Callable[[], None]

# Most sessions that wait for the thread: it slows down a job that ends sessions faster than it writes them.
MAX_WAITING = 2

_changed = threading.Condition()
_waiting: deque[Write] = deque()
_writer: threading.Thread | None = None


def submit(write: Write) -> None:
    """Run `write`, which must not raise, in the background."""
    global _writer
    _reset_in_children()
    _wait_at_exit()
    with _changed:
        _changed.wait_for(lambda: len(_waiting) < MAX_WAITING)
        _waiting.append(write)
        if _writer is None:
            _writer = threading.Thread(target=_write_all, name="tfdarshan-writer")
            try:
                _writer.start()
                return
            except RuntimeError:  # the interpreter is ending, or there are too many threads
                _writer = None
                _waiting.clear()
        else:
            return
    write()


def wait() -> None:
    """Wait until all sessions are written."""
    with _changed:
        if _writer is not threading.current_thread():
            _changed.wait_for(lambda: _writer is None)


def _write_all() -> None:
    global _writer
    while True:
        with _changed:
            if not _waiting:
                _writer = None
                _changed.notify_all()
                return
            write = _waiting[0]
        write()
        with _changed:
            _waiting.popleft()
            _changed.notify_all()


@functools.lru_cache(maxsize=1)
def _wait_at_exit() -> None:
    """Wait at exit too: the interpreter stops waiting for threads when Ctrl-C comes meanwhile."""
    atexit.register(_finish)


def _finish() -> None:
    said = "a session is written first; a second Ctrl-C ends at once, and `tfdarshan recover` writes it later"
    try:
        with HeldInterrupt(lambda: say(said)):
            wait()
    except KeyboardInterrupt:
        end_by_interrupt()


@functools.lru_cache(maxsize=1)
def _reset_in_children() -> None:
    """A forked child has no writer; its parent writes what was waiting."""

    def forget() -> None:
        global _changed, _writer
        _changed = threading.Condition()
        _waiting.clear()
        _writer = None

    os.register_at_fork(after_in_child=forget)
