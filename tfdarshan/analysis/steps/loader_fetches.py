"""When each batch of the training loader was put together, and by which thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.steps.loader_waits import training_batches
from tfdarshan.sessions.process_data import ProcessData

COLUMNS = ("epoch", "worker", "fetch_tid", "request_ns", "fetch_start_ns", "fetch_end_ns")


@dataclass(frozen=True)
class LoaderFetches:
    """The batches of which that is known, in order of when it began; one entry per batch.

    Attributes:
        epoch: The pass over the data that it is of, from 1 on.
        worker: Who put it together, -1: the training loop's own thread.
        thread: The thread's number, as the kernel has it.
        asked_ns: When the loop asked for it, in ns since the session began.
        begun_ns: When that began.
        done_ns: When it ended.
    """

    epoch: Array
    worker: Array
    thread: Array
    asked_ns: Array
    begun_ns: Array
    done_ns: Array

    @property
    def by_workers_s(self) -> float | None:
        """How long a worker takes for a batch, mean in seconds; None without any."""
        mine = self.worker >= 0
        return float((self.done_ns - self.begun_ns)[mine].mean()) / 1e9 if mine.any() else None

    def starts(self, calls: Segments) -> Array:
        """Return which calls a worker made before it began its first batch, bool: they are part of its start.

        A program that is started again imports the job's modules, and opens the files that these open.
        """
        mine = self.worker >= 0
        thread, first = np.unique(self.thread[mine], return_index=True)
        begun = dict(zip(thread.tolist(), self.begun_ns[mine][first].tolist(), strict=True))
        begins = np.array([begun.get(thread.tid, 0) for thread in calls.threads] or [0])
        return calls.start_ns < begins[calls.thread]

    def epochs_of(self, thread: Array, at_ns: Array) -> Array:
        """Return the epoch that each of some moments is of, from 0 on.

        It is that of the batch which its thread last began; of a thread that makes none, which anybody did.

        Args:
            thread: The number of the thread whose moment it is.
            at_ns: When, ascending.
        """
        found = np.zeros(len(at_ns), int)
        for one in np.unique(thread).tolist():
            mine, chosen = self.thread == one, thread == one
            mine |= not mine.any()
            place = np.searchsorted(self.begun_ns[mine], at_ns[chosen], side="right") - 1
            found[chosen] = self.number[mine][np.maximum(place, 0)]
        return np.maximum.accumulate(found)

    def epochs_of_batches(self, got_ns: Array) -> Array:
        """Return the epoch of each batch, from 0 on, by when the loop got it."""
        order = np.argsort(self.asked_ns, kind="stable")
        place = np.searchsorted(self.asked_ns[order], got_ns, side="right") - 1
        return np.maximum.accumulate(self.number[order][np.maximum(place, 0)])

    def first_ns(self) -> tuple[Array, Array]:
        """Return when the first batch of each epoch was begun, and when it was put together."""
        _, first = np.unique(self.number, return_index=True)
        return self.begun_ns[first], self.done_ns[first]

    @cached_property
    def number(self) -> Array:
        """The epoch of each batch, from 0 on without gaps."""
        return np.unique(self.epoch, return_inverse=True)[1]


def loader_fetches(processes: Sequence[ProcessData]) -> LoaderFetches | None:
    """Return them of the owner's training loader; None if nothing is known of any.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    found = training_batches(processes, COLUMNS)
    if found is None:
        return None
    epoch, worker, thread, asked, begun, done = (found[name] for name in COLUMNS)
    known = np.flatnonzero((begun >= 0) & (done >= 0))
    known = known[np.argsort(begun[known], kind="stable")]
    columns = (one[known] for one in (epoch, worker, thread, asked, begun, done))
    return LoaderFetches(*columns) if len(known) else None
