"""A job as a queueing network, for many samples of what its session leaves open.

Readers take tasks in order. A task is a chain of calls that one reader makes: it uses up a rate limit, then
waits for storage, then for the processors. Each station serves a share of its work one task at a time, and
the rest of it beside others. What is behind the readers, such as parsing, goes through one more station in
order. One producer puts finished tasks together to batches, in order, at most so many ahead of the training
loop. The loop takes a batch, computes, writes, and stands still.

A station of m equal servers serves 1/m of its work one at a time.

Source: Seidmann, Schweitzer and Shalev-Oren, Computerized Closed Queueing Network Models of Flexible
Manufacturing Systems, Large Scale Systems 12, 1987 (a station of m servers as one server and a delay).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array

# The kinds of calls that a task waits for: by a name, by an open file, and what only looks for a file's end.
CALLS = ("open", "stat", "read", "probe")
OPEN, STAT, READ, PROBE = range(len(CALLS))
TINY_S = 1e-9  # the unit that sessions count in: seconds are divided by no less


@dataclass(frozen=True, kw_only=True)
class JobModel:
    """The network. Times are in seconds, float64.

    Arrays of tasks are of shape (tasks, samples) or (tasks, 1), those of batches likewise; arrays of
    resources are of shape (samples,).

    Attributes:
        weight: How many recorded batches each batch stands for, shape (batches,).
        epoch: The epoch of each batch, int, ascending from 0, shape (batches,).
        late_s: How long after an epoch's first request its first task begins, shape (epochs, samples or
            1); NaN if the readers go on from the epoch before.
        compute_s: What the loop computes with a batch.
        write_s: What of its writes then waits in the queue of the input's storage, as transfers do.
        stall_s: What it stands still for otherwise.
        hand_s: What it takes to hand a ready batch over, and what of its wait nothing explains.
        beside_s: The same of what others write from then on, and nobody waits for.
        save_s: What a thread takes for a save that begins then: it makes one after the other, and the run has
            ended when all are made.
        batch: The batch that needs each task, int, ascending, shape (tasks,).
        limit_s: What a task uses up of a rate limit: its bytes, or calls, over the rate.
        calls: Its calls by `CALLS`, shape (kinds, tasks); of those by an open file the opens alone.
        jumps: Its reads that do not go on where the one before them ended, shape (tasks,).
        requests: Its reads that storage serves, not memory or read-ahead, shape (tasks, samples or 1).
        wait_s: What they wait for storage, however many bytes they move, shape (kinds, tasks, samples or 1).
        transfer_s: What their bytes take.
        seek_s: What moving to their places takes, one task at a time.
        work_s: Processor time between its calls.
        behind_s: Processor time on what it read, behind its reader.
        readers: How many readers there are, int, at least 1.
        calls_ahead: How many tasks may be begun and not yet be part of a batch, int; 0: those of the batch
            that is put together. Where a reader prepares whole batches: how many batches.
        batches_ahead: How many batches may be put together before the loop asks for them, int.
        in_order: Whether tasks become part of a batch in the order in which they begin, int: 1, or 0 if one
            that is finished passes those before it that are not.
        burst_s: What the rate limit lends after a rest.
        wait_serial: The share of `wait_s` that storage serves one task at a time.
        transfer_serial: That of `transfer_s`, and of what is written.
        work_serial: The share of `work_s` that is done one task at a time: Python's lock, or 1 / processors.
        behind_serial: That of `behind_s`.
        whole_batches: Whether one reader prepares all tasks of a batch, which take turns with other readers'.
        processors: How many processors the job has, shape (samples,) or (1,).
        processors_each: How many of them a task's work keeps busy, likewise: operations run on several.
        other_work_s: Processor time of all batches that is no work on tasks, nor on their reads, likewise.
        read_work_s: Processor time of a read that memory serves, likewise.
        loop_s: What the loop takes, which is one thread, if nothing shows when it computed, likewise.
        cpus: How many processors the machine gives the job and other programs, likewise.
        steps_compute: The share of `compute_s` that keeps a processor busy, likewise.
        alone: What of `compute_s` the loop would compute with the processors for itself, a share, likewise; 0
            while that is not known, and then no edit changes it.
    """

    weight: Array
    epoch: Array
    late_s: Array
    compute_s: Array
    write_s: Array
    stall_s: Array
    hand_s: Array
    beside_s: Array
    batch: Array
    limit_s: Array
    calls: Array
    jumps: Array
    requests: Array
    wait_s: Array
    transfer_s: Array
    seek_s: Array
    work_s: Array
    behind_s: Array
    readers: Array
    calls_ahead: Array
    batches_ahead: Array
    in_order: Array
    burst_s: Array
    wait_serial: Array
    transfer_serial: Array
    work_serial: Array
    behind_serial: Array
    whole_batches: bool = False
    save_s: Array = dataclasses.field(default_factory=lambda: np.zeros((1, 1)))
    processors: Array = dataclasses.field(default_factory=lambda: np.full(1, np.inf))
    processors_each: Array = dataclasses.field(default_factory=lambda: np.ones(1))
    other_work_s: Array = dataclasses.field(default_factory=lambda: np.zeros(1))
    read_work_s: Array = dataclasses.field(default_factory=lambda: np.zeros(1))
    loop_s: Array = dataclasses.field(default_factory=lambda: np.zeros(1))
    cpus: Array = dataclasses.field(default_factory=lambda: np.full(1, np.inf))
    steps_compute: Array = dataclasses.field(default_factory=lambda: np.zeros(1))
    alone: Array = dataclasses.field(default_factory=lambda: np.zeros(1))

    def but(self, **changes: Any) -> JobModel:
        """Return the same job with other values of some attributes."""
        return dataclasses.replace(self, **changes)

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.readers)

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.batch)

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self.epoch)

    @property
    def storage_s(self) -> Array:
        """What each task takes at storage if nothing runs beside it."""
        return self.wait_s.sum(0) + self.transfer_s + self.seek_s

    @property
    def processor_s(self) -> Array:
        """How long the processors need for all work of all batches, shape (samples,) or (1,).

        One thread's own work is done on one of them.
        """
        tasks = self.weight[self.batch]
        on_tasks: Array = tasks @ (self.work_s + self.behind_s)
        on_reads: Array = self.read_work_s * float((tasks * self.calls[READ]).sum())
        all_s = (self.other_work_s + on_reads + on_tasks * self.processors_each) / self.processors
        return np.maximum(all_s, self.loop_s)

    @property
    def least_s(self) -> Array:
        """What the loop computes with the processors for itself, of all batches, shape (samples,) or (1,)."""
        computing_s: Array = self.weight @ self.compute_s
        return np.where(self.alone > 0, self.alone, 1.0) * computing_s

    @property
    def tasks_per_batch(self) -> float:
        """How many tasks a batch has, of those that have any; at least 1."""
        return max(1.0, self.tasks / max(len(np.unique(self.batch)), 1))
