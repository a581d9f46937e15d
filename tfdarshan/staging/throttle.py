"""A bandwidth limit that threads share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Throttle:
    """Lets `bytes_per_s` bytes a second pass, None for any number."""

    def __init__(
        self,
        bytes_per_s: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free_s = 0.0

    def take(self, count: int) -> None:
        """Waits until `count` bytes may pass: those before them have had their time."""
        if self._bytes_per_s is None:
            return
        with self._lock:
            now_s = self._clock()
            begin_s = max(self._free_s, now_s)
            self._free_s = begin_s + count / self._bytes_per_s
        if begin_s > now_s:
            self._sleep(begin_s - now_s)
