"""A runner whose workers get the data that tasks are of, if they do not see it where whoever asks does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from tfdarshan.partials.serial import Done, GivenT, Lost, ResultT, Runner


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


def _with_data(data: Data, work: Callable[[GivenT], ResultT], task: GivenT) -> ResultT:
    data.bring()
    return work(task)
