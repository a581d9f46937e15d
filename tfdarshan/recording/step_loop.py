"""`for batch in tfdarshan.steps(loader):` marks a step for each batch, and the wait for the batch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from typing import Generic, TypeVar, cast

from tfdarshan.native import _bridge
from tfdarshan.recording.steps import Mark, Moment, StepLog, current_log

Batch = TypeVar("Batch")
LOOPED_STEPS = "steps()"


class steps(Generic[Batch]):  # noqa: N801 - reads as a function where it is used
    """Marks the steps of a training loop: `for batch in tfdarshan.steps(loader):`.

    A step lasts from the request for its batch to the next request, and waits until its batch comes. Each
    pass over the input is an epoch. Does nothing while no session records.

    Args:
        batches: What the loop iterates over. Its length is the length of this.
    """

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        steps_of_pass = _Pass()
        steps_of_pass.request()
        try:
            # iter() is waited for, too: it starts the workers.
            for batch in self._batches:
                steps_of_pass.begin()
                yield batch
                steps_of_pass.request()
        finally:
            steps_of_pass.end()

    def __len__(self) -> int:
        return len(cast(Sized, self._batches))


class _Pass:
    """The steps of one pass, in whichever session records."""

    def __init__(self) -> None:
        self._log: StepLog | None = None
        self._requested: Moment = (0, None)
        self._epoch = 0
        self._mark: Mark | None = None

    def request(self) -> None:
        log = current_log()
        if log is not self._log:
            self._log = log
            self._epoch = 0 if log is None else log.next_pass()
        if log is not None:
            self._requested = log.request()

    def begin(self) -> None:
        log = self._log
        self._mark = None
        if log is not None and log is current_log():
            self._mark = log.begin_requested(self._requested, LOOPED_STEPS, self._epoch)

    def end(self) -> None:
        """End the step of a loop that was left."""
        if self._mark is not None and not self._mark.end_ns:
            self._mark.end(time.time_ns(), _bridge.kernel_reads())
