"""What runs tasks. All runners call the same functions and give the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tfdarshan.errors import SessionDataError
from tfdarshan.partials.protocol import AnswerT, Gathered, PartialT, Question, Task, TaskT, merged

GivenT = TypeVar("GivenT")
ResultT = TypeVar("ResultT")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Done(Generic[GivenT, ResultT]):
    """A task with its result."""

    task: GivenT
    result: ResultT


@dataclass(frozen=True)
class Lost(Generic[GivenT]):
    """A task that has no result: each worker that had it ended."""

    task: GivenT


def in_silence(done: int, total: int) -> None:
    """Tell nobody of the progress."""


class Runner(Protocol):
    """Runs tasks, and tries those of a worker that ended again.

    Attributes:
        few: So many small tasks are worth its start; fewer are quicker done here.
    """

    @property
    def few(self) -> int:
        """See above."""

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """Yield all tasks, in any order; what `work` raises ends it. Closing it cancels what is left."""

    def gather(
        self,
        question: Question[TaskT, PartialT, AnswerT],
        tasks: Sequence[TaskT],
        progress: Progress = in_silence,
    ) -> Gathered[PartialT]:
        """Map tasks and merge their partials.

        Args:
            question: The question.
            tasks: The tasks.
            progress: Is told how many of them are done, of how many.

        Raises:
            SessionDataError: Data is damaged or missing.
        """


class Serial:
    """Runs one task after the other, here."""

    few = 1

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        for task in tasks:
            yield Done(task, work(task))

    def gather(
        self,
        question: Question[TaskT, PartialT, AnswerT],
        tasks: Sequence[TaskT],
        progress: Progress = in_silence,
    ) -> Gathered[PartialT]:
        """See `Runner.gather`."""
        return folded(question, self.each(question.map, tasks), len(tasks), progress)


SERIAL = Serial()


def folded(
    question: Question[TaskT, PartialT, AnswerT],
    results: Iterable[Done[TaskT, PartialT] | Lost[TaskT]],
    total: int,
    progress: Progress,
) -> Gathered[PartialT]:
    """Merge partials as they come."""
    lost: list[Task] = []

    def parts() -> Iterator[PartialT]:
        for count, result in enumerate(results, start=1):
            if isinstance(result, Lost):
                lost.append(result.task)
            else:
                yield result.result
            progress(count, total)

    partial = merged(question, parts())
    return Gathered(partial, tuple(sorted(task.name for task in lost)))


def answered(question: Question[TaskT, PartialT, AnswerT], tasks: Sequence[TaskT], runner: Runner) -> AnswerT:
    """Return the answer to a question that has none without all of its tasks.

    Raises:
        SessionDataError: Data is damaged or missing, or ends each process that reads it.
    """
    gathered = runner.gather(question, tasks)
    if gathered.lost:
        raise SessionDataError(f"{gathered.lost[0]} cannot be read: each process that read it ended.")
    return question.finish(gathered.partial)
