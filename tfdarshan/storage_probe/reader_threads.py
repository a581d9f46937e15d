"""So many readers at a time: threads that give way to others, and take the next work when they are free."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from tfdarshan.errors import StorageError

Work = TypeVar("Work")
Found = TypeVar("Found")
# A call that has not returned so long after it was to be over will not.
HUNG_S = 10.0
# Source: ioprio_set(2) has no wrapper in the C library; asm/unistd.h of the two architectures.
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
WHO_PROCESS = 1
IDLE = 3 << 13
LEAST = 19


@dataclass(frozen=True)
class _Failed:
    """Work that failed; what it gives may be an error itself."""

    error: BaseException


class ReaderThreads:
    """Threads that wait for work. They are daemons: storage that hangs keeps no program from ending.

    Attributes:
        idle: Whether the disk's scheduler was told to serve everybody else first.
    """

    def __init__(self, most: int) -> None:
        self.idle = True
        self._orders = [SimpleQueue[Callable[[], None] | None]() for _ in range(most)]
        for orders in self._orders:
            threading.Thread(target=self._serve, args=(orders,), daemon=True).start()

    def __enter__(self) -> ReaderThreads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for orders in self._orders:
            orders.put(None)

    def run(
        self,
        function: Callable[[Work], Found],
        work: Sequence[Work],
        readers: int,
        until: float,
        clock: Callable[[], float] = time.perf_counter,
        enough: tuple[int, float] | None = None,
    ) -> list[Found]:
        """Do the work with so many threads at a time; return what was done, in any order.

        Args:
            function: What is done with each piece, taken from the first on.
            work: The pieces.
            readers: Threads.
            until: When none is begun any more.
            clock: Seconds.
            enough: How many pieces are enough once it has lasted so many seconds.

        Raises:
            StorageError: A call hangs.
        """
        waiting, found = deque(work), SimpleQueue[Any]()
        readers = min(readers, len(work), len(self._orders))
        together = threading.Barrier(readers) if readers else None
        least, seconds = enough or (len(work), 0.0)
        soon = clock() + seconds

        def goes_on() -> bool:
            now = clock()
            return now < until and (now < soon or len(work) - len(waiting) < least)

        def take_turns() -> None:
            try:
                if together is not None:
                    together.wait()
                while waiting and goes_on():
                    found.put(function(waiting.popleft()))
            except IndexError:  # another one took the last
                pass
            except BaseException as error:
                found.put(_Failed(error))
            found.put(None)

        for orders in self._orders[:readers]:
            orders.put(take_turns)
        return _gather(found, readers, until, clock)

    def _serve(self, orders: SimpleQueue[Callable[[], None] | None]) -> None:
        self.idle &= give_way()
        while (order := orders.get()) is not None:
            order()


def give_way() -> bool:
    """Give the calling thread the least priority; say whether the disk's scheduler was told, too."""
    thread = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, LEAST)
    number = IOPRIO_SET.get(platform.machine())
    if number is None:
        return False
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    return bool(syscall(number, WHO_PROCESS, thread, IDLE) == 0)


def _gather(found: SimpleQueue[Any], readers: int, until: float, clock: Callable[[], float]) -> list[Any]:
    results: list[Any] = []
    while readers:
        try:
            result = found.get(timeout=max(until - clock(), 0.0) + HUNG_S)
        except Empty:
            raise StorageError(
                f"storage has not answered for {HUNG_S:.0f} s: a call hangs; see whether the mount works."
            ) from None
        if result is None:
            readers -= 1
        elif isinstance(result, _Failed):
            raise result.error
        else:
            results.append(result)
    return results
