"""What runs tasks. All runners call the same functions and give the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tfdarshan.errors import SessionDataError
from tfdarshan.partials.protocol import Gathered, PartialT, Question, TaskT, merged

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


class Serial:
    """Runs one task after the other, here."""

    few = 1

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        for task in tasks:
            yield Done(task, work(task))


SERIAL = Serial()


def gather(question: Question[TaskT, PartialT], tasks: Sequence[TaskT], runner: Runner) -> Gathered[PartialT]:
    """Map tasks, and merge their partials as they come.

    Raises:
        SessionDataError: Data is damaged or missing.
    """
    lost: list[str] = []

    def parts() -> Iterator[PartialT]:
        for result in runner.each(question.map, tasks):
            if isinstance(result, Lost):
                lost.append(result.task.name)
            else:
                yield result.result

    partial = merged(question, parts())
    return Gathered(partial, tuple(sorted(lost)))


def answered(question: Question[TaskT, PartialT], tasks: Sequence[TaskT], runner: Runner) -> PartialT:
    """Return the answer to a question that has none without all of its tasks.

    Raises:
        SessionDataError: Data is damaged or missing, or ends each process that reads it.
    """
    gathered = gather(question, tasks, runner)
    if gathered.lost:
        raise SessionDataError(f"{gathered.lost[0]} cannot be read: each process that read it ended.")
    return gathered.partial
