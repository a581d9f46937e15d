"""A runner that tells somebody how far it is, whoever asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfdarshan.partials.protocol import AnswerT, Gathered, PartialT, Question, TaskT
from tfdarshan.partials.serial import Done, GivenT, Lost, Progress, ResultT, Runner, in_silence


class ToldRunner:
    """Runs tasks as another runner does.

    Args:
        runner: The other one.
        progress: Is told how many tasks of a question are done, of how many, where nobody else is.
    """

    def __init__(self, runner: Runner, progress: Progress) -> None:
        self._runner, self._progress = runner, progress

    @property
    def few(self) -> int:
        """See `Runner.few`."""
        return self._runner.few

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        return self._runner.each(work, tasks)

    def gather(
        self,
        question: Question[TaskT, PartialT, AnswerT],
        tasks: Sequence[TaskT],
        progress: Progress = in_silence,
    ) -> Gathered[PartialT]:
        """See `Runner.gather`."""
        return self._runner.gather(question, tasks, self._progress if progress is in_silence else progress)
