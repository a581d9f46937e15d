"""Holds a copy to so many bytes a second."""

from __future__ import annotations

import time
from collections.abc import Callable


class BandwidthLimit:
    """Says how long to wait so that bytes pass no faster than `bytes_per_s`; None is no limit.

    Args:
        bytes_per_s: The limit.
        clock: Gives seconds that never go back.
    """

    def __init__(self, bytes_per_s: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_at_s = clock()

    def delay_s(self, size_bytes: int) -> float:
        """Counts `size_bytes` as passed and gives the seconds to wait before the next ones: 0 or more."""
        if self._bytes_per_s is None:
            return 0.0
        now_s = self._clock()
        self._free_at_s = max(self._free_at_s, now_s) + size_bytes / self._bytes_per_s
        return self._free_at_s - now_s
