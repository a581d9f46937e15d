"""A runner whose workers get the data that tasks are of, if they do not see it where whoever asks does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol

from tfdarshan.partials.protocol import AnswerT, Gathered, PartialT, Question, TaskT
from tfdarshan.partials.serial import Done, GivenT, Lost, Progress, ResultT, Runner, in_silence


class Data(Protocol):
    """Data that a worker can get for itself; it goes to workers, so it is small and can be pickled."""

    def bring(self) -> None:
        """Put the data where tasks look for it, unless it is there. Called before each task.

        Raises:
            SessionDataError: It cannot be had.
        """

    def remove(self) -> None:
        """Remove what was brought."""


class DataRunner:
    """Runs tasks as another runner does, each behind the data it needs.

    Args:
        runner: The other one.
        data: What workers get.
    """

    def __init__(self, runner: Runner, data: Data) -> None:
        self._runner, self._data = runner, data

    @property
    def few(self) -> int:
        """See `Runner.few`."""
        return self._runner.few

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        return self._runner.each(partial(_with_data, self._data, work), tasks)

    def gather(
        self,
        question: Question[TaskT, PartialT, AnswerT],
        tasks: Sequence[TaskT],
        progress: Progress = in_silence,
    ) -> Gathered[PartialT]:
        """See `Runner.gather`."""
        return self._runner.gather(_WithData(question, self._data), tasks, progress)


def _with_data(data: Data, work: Callable[[GivenT], ResultT], task: GivenT) -> ResultT:
    data.bring()
    return work(task)


@dataclass(frozen=True)
class _WithData(Generic[TaskT, PartialT, AnswerT]):
    """A question whose tasks want data brought first."""

    question: Question[TaskT, PartialT, AnswerT]
    data: Data

    def empty(self) -> PartialT:
        return self.question.empty()

    def map(self, task: TaskT) -> PartialT:
        return _with_data(self.data, self.question.map, task)

    def merge(self, one: PartialT, other: PartialT) -> PartialT:
        return self.question.merge(one, other)

    def finish(self, partial: PartialT) -> AnswerT:
        return self.question.finish(partial)
