"""Measures on the GPU's clock how long the GPU was idle in each wait for a batch: the exposed wait.

Launches are asynchronous: while the loop waits on the CPU, the GPU works on what is queued. An event behind
the queue before a wait and another one after the wait tell how long the queue was empty. Nothing is
synchronised: events are queried at later waits. If they are not done by the session's end, the exposed wait
is unknown.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# Pairs of events in use at once. While the loop is further ahead of its GPU, its waits are not measured.
MOST_PAIRS = 256
NS_PER_MS = 1e6

# Is told when a wait began, in ns since the epoch, and how many ns of it were exposed.
Note = Callable[[int, int], None]


class Pair:
    """Two events of one device, before and after a wait; called at the end of the wait, with its times in ns.

    Args:
        cuda: PyTorch's module, which makes them for the current device.
        running: Pairs whose events are recorded.
        free: Pairs that are not in use.
    """

    __slots__ = ("_running", "begin_ns", "first", "free", "last", "waited_ns")

    def __init__(self, cuda: Any, running: deque[Pair], free: list[Pair]) -> None:
        self.first, self.last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self.begin_ns = self.waited_ns = 0
        self.free = free
        self._running = running

    def __call__(self, begin_ns: int, end_ns: int) -> None:
        """End the wait."""
        try:
            self.last.record()
        except BaseException:
            # For example, the wait has changed the current device.
            self.free.append(self)
            raise
        self.begin_ns, self.waited_ns = begin_ns, end_ns - begin_ns
        self._running.append(self)

    def is_done(self) -> bool:
        """Return whether the GPU has reached both events."""
        return bool(self.first.query() and self.last.query())

    def exposed_ns(self) -> int:
        """Return how long the GPU was idle between them, at most the wait."""
        idle_ms: float = self.first.elapsed_time(self.last)
        return min(max(round(idle_ms * NS_PER_MS), 0), self.waited_ns)


class ExposedWaits:
    """Measures waits of this process's main thread while the job uses CUDA. It never initialises CUDA.

    It measures no other thread, whose CUDA calls would spoil a graph that the main thread captures.

    Args:
        note: Is told of each wait that was measured.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._owner = os.getpid(), threading.main_thread().ident
        self._ended = False
        self._made = 0
        self._free: dict[int, list[Pair]] = {}
        self._running: deque[Pair] = deque()

    def begin(self) -> Callable[[int, int], None] | None:
        """Begin to measure a wait; return what ends that, or None if the wait cannot be measured."""
        cuda = self._cuda()
        if cuda is None:
            return None
        try:
            if cuda.is_current_stream_capturing():
                return None
            self._look()
            pair = self._pair(cuda)
            if pair is not None:
                pair.first.record()
        except Exception:
            # An error of CUDA reaches the job by the job's own calls.
            self._ended = True
            return None
        return pair

    def end(self) -> None:
        """Note what is known by now, measure no more, and let go of the events."""
        with suppress(Exception):
            cuda = self._cuda()
            if cuda is not None and not cuda.is_current_stream_capturing():
                self._look()
        self._ended = True
        for pairs in (self._running, *self._free.values()):
            pairs.clear()

    def _cuda(self) -> Any:
        """Return PyTorch's module where CUDA is initialised and may be asked; None elsewhere."""
        cuda = sys.modules.get("torch.cuda")
        if cuda is None or self._ended or not cuda.is_initialized():
            return None
        return cuda if (os.getpid(), threading.get_ident()) == self._owner else None

    def _pair(self, cuda: Any) -> Pair | None:
        """Return a pair of the current device that is not in use; None if too many are."""
        free = self._free.setdefault(cuda.current_device(), [])
        if free:
            return free.pop()
        if self._made >= MOST_PAIRS:
            return None
        self._made += 1
        return Pair(cuda, self._running, free)

    def _look(self) -> None:
        """Note the waits that the GPU has passed."""
        while self._running and self._running[0].is_done():
            pair = self._running.popleft()
            self._note(pair.begin_ns, pair.exposed_ns())
            pair.free.append(pair)
