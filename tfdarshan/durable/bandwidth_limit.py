"""Holds copies to so many bytes a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# How often one that waits looks whether it is to end.
LOOK_S = 0.1


class BandwidthLimit:
    """Lets bytes pass no faster than `bytes_per_s`, whichever threads they come from; None is no limit.

    Time in which nothing passes is not saved up for later.

    Args:
        bytes_per_s: The limit.
        clock: Gives seconds that never go back.
        sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        bytes_per_s: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free_at_s = 0.0

    def take(self, size_bytes: int, *, check: Callable[[], None] = lambda: None) -> None:
        """Wait until `size_bytes`, and all bytes before them, have had their time.

        Args:
            size_bytes: How many bytes pass.
            check: Called every tenth of a second of the wait, and once after it; what it raises ends the
                wait.
        """
        if self._bytes_per_s is not None:
            with self._lock:
                begin_s = max(self._free_at_s, self._clock())
                self._free_at_s = until_s = begin_s + size_bytes / self._bytes_per_s
            while (left_s := until_s - self._clock()) > 0:
                self._sleep(min(left_s, LOOK_S))
                check()
        check()
