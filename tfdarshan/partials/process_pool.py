"""Runs tasks in several processes of this machine.

They are spawned, not forked, so that nothing of a job that has threads is carried along; a program that asks
for it needs the usual `if __name__ == "__main__":`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from types import FrameType

from tfdarshan.partials.serial import Done, GivenT, Lost, ResultT

# Tasks that wait or are under way, for each process.
AHEAD = 2
# How often a task is tried in a process of its own after one that had it ended.
TRIES = 2
# What a process has to leave its task in, and to remove its temporary files, when the result is not wanted.
LEAVE_S = 2.0


class ProcessPool:
    """Runs tasks in so many processes.

    One that ends, killed for its memory or by a library that cannot stand damaged data, takes its pool along:
    each task that it may have had is then tried in a process of its own, and the others go on. All of them
    end with the one that asked, however that ends.

    As a context manager it keeps its processes from one question to the next: to start some and have them
    import what they need takes most of a second.

    Args:
        processes: How many processes.
    """

    few = 64

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._keeps = False
        self._kept: tuple[AbstractContextManager[ProcessPoolExecutor], ProcessPoolExecutor] | None = None

    def __enter__(self) -> ProcessPool:
        """Keep the processes that begin from now on."""
        self._keeps = True
        return self

    def __exit__(self, *error: object) -> None:
        """End them."""
        self._keeps = False
        self._end_kept(None)

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        to_come = deque(tasks)
        while to_come:
            for task in (yield from self._side_by_side(work, to_come)):
                yield _alone(work, task)

    def _side_by_side(
        self, work: Callable[[GivenT], ResultT], to_come: deque[GivenT]
    ) -> Generator[Done[GivenT, ResultT], None, list[GivenT]]:
        """Yield tasks taken from `to_come`; return those that were under way when a process ended."""
        waiting: deque[tuple[GivenT, Future[ResultT]]] = deque()
        with self._workers(min(self._processes, len(to_come))) as pool:
            try:
                while to_come or waiting:
                    while to_come and len(waiting) < AHEAD * self._processes:
                        waiting.append((to_come[0], pool.submit(work, to_come[0])))
                        to_come.popleft()
                    task, future = waiting[0]
                    result = future.result()
                    waiting.popleft()
                    yield Done(task, result)
            except BrokenProcessPool:
                self._end_kept(None)
                yield from (Done(task, future.result()) for task, future in waiting if _has_result(future))
        return [task for task, future in waiting if not _has_result(future)]

    @contextmanager
    def _workers(self, processes: int) -> Iterator[ProcessPoolExecutor]:
        """Yield a pool of so many processes, or the kept one, which ends if it is left by an exception."""
        if not self._keeps:
            with _pool(processes) as pool:
                yield pool
            return
        if self._kept is None:
            context = _pool(self._processes)
            self._kept = context, context.__enter__()
        try:
            yield self._kept[1]
        except BaseException as error:
            self._end_kept(error)
            raise

    def _end_kept(self, error: BaseException | None) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            kept[0].__exit__(None if error is None else type(error), error, None)


def usable_processors() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0))


def _has_result(future: Future[ResultT]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _alone(work: Callable[[GivenT], ResultT], task: GivenT) -> Done[GivenT, ResultT] | Lost[GivenT]:
    for _ in range(TRIES):
        try:
            with _pool(1) as pool:
                return Done(task, pool.submit(work, task).result())
        except BrokenProcessPool:
            continue
    return Lost(task)


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool; its processes end at once if what is done with it ends by an exception."""
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    with theirs, ours:
        pool = ProcessPoolExecutor(processes, context, _end_with, (theirs,))
        try:
            yield pool
        except BaseException:
            ours.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _end_with(line: Connection) -> None:
    """Have this process end when nobody has the other end of a pipe any more, and not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, _leave)
    threading.Thread(target=_watch, args=(line,), daemon=True).start()


def _leave(_number: int, _frame: FrameType | None) -> None:
    sys.exit(1)


def _watch(line: Connection) -> None:
    line.poll(None)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
    time.sleep(LEAVE_S)
    os._exit(1)
