"""Runs tasks in several processes of this machine.

They are spawned, not forked, so that nothing of a job that has threads is carried along; a program that asks
for it needs the usual `if __name__ == "__main__":`.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from tfdarshan.partials.protocol import AnswerT, Gathered, PartialT, Question, TaskT
from tfdarshan.partials.serial import Done, GivenT, Lost, Progress, ResultT, folded, in_silence

# Tasks that wait or are under way, for each process.
AHEAD = 2
# How often a task is tried in a process of its own after one that had it ended.
TRIES = 2


class ProcessPool:
    """Runs tasks in so many processes.

    One that ends, killed for its memory or by a library that cannot stand damaged data, takes its pool along:
    each task that it may have had is then tried in a process of its own, and the others go on.

    Args:
        processes: How many processes.
    """

    few = 64

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        to_come = deque(tasks)
        while to_come:
            for task in (yield from self._side_by_side(work, to_come)):
                yield _alone(work, task)

    def gather(
        self,
        question: Question[TaskT, PartialT, AnswerT],
        tasks: Sequence[TaskT],
        progress: Progress = in_silence,
    ) -> Gathered[PartialT]:
        """See `Runner.gather`."""
        return folded(question, self.each(question.map, tasks), len(tasks), progress)

    def _side_by_side(
        self, work: Callable[[GivenT], ResultT], to_come: deque[GivenT]
    ) -> Generator[Done[GivenT, ResultT], None, list[GivenT]]:
        """Yields tasks taken from `to_come`; returns those that were under way when a process ended."""
        waiting: deque[tuple[GivenT, Future[ResultT]]] = deque()
        with _pool(min(self._processes, len(to_come))) as pool:
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
                yield from (Done(task, future.result()) for task, future in waiting if _has_result(future))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return [task for task, future in waiting if not _has_result(future)]


def usable_processors() -> int:
    """Gives how many processors this process may run on."""
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


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
