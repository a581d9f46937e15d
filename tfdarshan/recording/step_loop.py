"""`for batch in tfdarshan.steps(loader):` marks a step for each batch, and the wait for the batch."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sized
from typing import Generic, TypeVar, cast

from tfdarshan.frameworks.batch_log import LOOPED_STEPS
from tfdarshan.recording.steps import (
    Mark,
    Moment,
    StepLog,
    current_log,
    end_pass,
    expect_step,
    note_pass,
    note_step,
    take_back_step,
    watched_steps,
)

Batch = TypeVar("Batch")
NOT_RECORDED: Moment = (0, None)


class steps(Generic[Batch]):  # noqa: N801 - reads as a function where it is used
    """Marks the steps of a training loop: `for batch in tfdarshan.steps(loader):`.

    A step lasts from the request for its batch to the next request, and waits until its batch comes. Each
    pass over the input is an epoch. Does nothing while no session records. A number, such as of `range()`, is
    no batch: its step does not say what it waits for.

    Of loops within each other, such as one over epochs and one over batches, the inner one marks the steps.

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
        # Behind the input's last batch, which may be known as the last one only then, nothing more comes.
        input_of_pass = itertools.chain.from_iterable((self._batches, iter(marks.end, None)))
        return map(marks.begin, requests, input_of_pass)

    def __len__(self) -> int:
        return len(cast(Sized, self._batches))


class _Pass:
    """The steps of one pass, in whichever session records. The iterator over the pass alone refers to it."""

    __slots__ = ("_epoch", "_left", "_log", "_mark", "_nesting")

    def __init__(self, batches: object) -> None:
        # Batches that are left, -1 if that is not known.
        self._left = -1 if watched_steps() is None else _length(batches)
        self._log: StepLog | None = None
        self._epoch = 0
        self._mark: Mark | None = None
        self._nesting = _Nesting()
        note_pass()

    def request(self) -> Moment:
        """Return when the loop requests a batch, which ends the step before."""
        own = self._nesting
        outer = _here.outer
        if outer is not None:
            own.meet(outer)
        expect_step(may_begin=self._left != 0 and not own.holds)
        self._left -= self._left > 0
        log = current_log()
        if log is not self._log or own.holds:
            self._log, self._epoch = log, 0
        return NOT_RECORDED if log is None else log.request()

    def begin(self, requested: Moment, batch: Batch) -> Batch:
        """Begin the step of a batch that has come, and return the batch."""
        log = self._log
        told = not isinstance(batch, int)
        if log is None or log is not current_log():
            self._mark = None
        else:
            self._epoch = self._epoch or log.next_pass()
            self._mark = log.begin_requested(requested, LOOPED_STEPS, self._epoch, told=told)
        note_step()
        if not (told or self._nesting.has_steps):
            self._nesting.begin()
        return batch

    def end(self) -> None:
        """End the pass: the request that has begun last had no batch."""
        end_pass()

    def __del__(self) -> None:
        """End the step of a loop that was left."""
        self._nesting.lasts = False
        if self._log is not None:
            self._log.finish(self._mark)


class _Nesting:
    """Whether a pass only holds others: the first step of one that goes over numbers has another pass in it.

    Attributes:
        holds: Whether it does.
        has_steps: Whether one of its steps held none.
        lasts: Whether its newest step lasts, and may turn out to hold one.
    """

    __slots__ = ("has_steps", "holds", "lasts")

    def __init__(self) -> None:
        self.holds = self.has_steps = self.lasts = False

    def begin(self) -> None:
        """Begin a step that may hold a pass."""
        self.lasts, _here.outer = True, self

    def meet(self, outer: _Nesting) -> None:
        """Request a batch while a step lasts in this thread, which is no step if it is of another pass."""
        _here.outer = None
        if outer is self:
            self.has_steps, self.holds = True, False
        elif outer.lasts:
            take_back_step(is_pass=not outer.holds)
            outer.holds = True


class _Here(threading.local):
    """The pass whose step lasts in this thread, and may hold another one."""

    outer: _Nesting | None = None


_here = _Here()


def _length(batches: object) -> int:
    """Return how many batches there are, -1 if the input does not say."""
    try:
        return len(cast(Sized, batches))
    except Exception:  # whatever a class of the job raises
        return -1
