"""`for batch in tfdarshan.steps(loader):` marks a step for each batch, and the wait for the batch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sized
from typing import Generic, TypeVar, cast

from tfdarshan.frameworks.batch_log import LOOPED_STEPS
from tfdarshan.recording.steps import (
    Mark,
    Moment,
    StepLog,
    current_log,
    expect_step,
    note_pass,
    note_step,
    watched_steps,
)

Batch = TypeVar("Batch")
NOT_RECORDED: Moment = (0, None)


class steps(Generic[Batch]):  # noqa: N801 - reads as a function where it is used
    """Marks the steps of a training loop: `for batch in tfdarshan.steps(loader):`.

    A step lasts from the request for its batch to the next request, and waits until its batch comes. Each
    pass over the input is an epoch. Does nothing while no session records. A number, such as of `range()`, is
    no batch: its step does not say what it waits for.

    Args:
        batches: What the loop iterates over. Its length is the length of this.
    """

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        marks = _Pass(self._batches)
        # Iterators in C, around the input's own: what it raises has no frame of ours, and what it warns of is
        # at the loop's line. The input's iter() is within the first request, too: it starts the workers.
        requests = iter(marks.request, None)
        input_of_pass = itertools.chain.from_iterable((self._batches,))
        return map(marks.begin, requests, input_of_pass)

    def __len__(self) -> int:
        return len(cast(Sized, self._batches))


class _Pass:
    """The steps of one pass, in whichever session records. The iterator over the pass alone refers to it."""

    __slots__ = ("_epoch", "_left", "_log", "_mark")

    def __init__(self, batches: object) -> None:
        # Batches that are left, -1 if that is not known.
        self._left = -1 if watched_steps() is None else _length(batches)
        self._log: StepLog | None = None
        self._epoch = 0
        self._mark: Mark | None = None
        note_pass()

    def request(self) -> Moment:
        """Return when the loop requests a batch, which ends the step before."""
        expect_step(may_begin=self._left != 0)
        self._left -= self._left > 0
        log = current_log()
        if log is not self._log:
            self._log = log
            self._epoch = 0 if log is None else log.next_pass()
        return NOT_RECORDED if log is None else log.request()

    def begin(self, requested: Moment, batch: Batch) -> Batch:
        """Begin the step of a batch that has come, and return the batch."""
        log = self._log
        if log is None or log is not current_log():
            self._mark = None
        else:
            told = not isinstance(batch, int)
            self._mark = log.begin_requested(requested, LOOPED_STEPS, self._epoch, told=told)
        note_step()
        return batch

    def __del__(self) -> None:
        """End the step of a loop that was left."""
        if self._log is not None:
            self._log.finish(self._mark)


def _length(batches: object) -> int:
    """Return how many batches there are, -1 if the input does not say."""
    try:
        return len(cast(Sized, batches))
    except Exception:  # whatever a class of the job raises
        return -1
