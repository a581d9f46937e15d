"""Runs one piece of work at a time beside the caller, and hands its failure to the caller's next call."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """A worker for one task at a time.

    Args:
        name: The thread's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def start(self, task: Callable[[], None]) -> None:
        """Begin a task; the one before must have been joined."""

        def run() -> None:
            try:
                task()
            except Exception as error:
                self._error = error

        # Not a daemon: an interpreter that ends waits for the checkpoint to be whole.
        self._thread = threading.Thread(target=run, name=self._name)
        self._thread.start()

    def join(self) -> None:
        """Wait for the task's end.

        Raises:
            Exception: What the task raised; once.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error
