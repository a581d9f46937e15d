"""A runner that tells somebody how far it is, whoever asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfdarshan.partials.serial import Done, GivenT, Lost, Progress, ResultT, Runner


class ToldRunner:
    """Runs tasks as another runner does.

    Args:
        runner: The other one.
        progress: Is told how many tasks are done, of how many.
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
        for done, result in enumerate(self._runner.each(work, tasks), 1):
            yield result
            self._progress(done, len(tasks))
