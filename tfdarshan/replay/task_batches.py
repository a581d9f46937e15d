"""Give each task to the batch that needs it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.loader_fetches import LoaderFetches
from tfdarshan.replay.loop_times import LoopTimes
from tfdarshan.replay.read_tasks import ReadTasks


@dataclass(frozen=True)
class TaskBatches:
    """Tasks, ordered by the batch that needs them.

    Attributes:
        tasks: They.
        batch: The batch of each, int, ascending.
        epoch: The epoch of each batch, int, ascending from 0.
        late_s: How long after an epoch's first request its first task began, in seconds; NaN if before.
    """

    tasks: ReadTasks
    batch: Array
    epoch: Array
    late_s: Array


def batches_of(
    tasks: ReadTasks,
    loop: LoopTimes,
    shuffled: int,
    *,
    by_loop: bool = False,
    on_demand: bool = False,
    may_cache: bool = True,
    fetches: LoaderFetches | None = None,
) -> TaskBatches:
    """Return the tasks with their batches: each batch of an epoch needs as many as another one.

    A burst of reads that is taken for a batch needs what is read in it. If nothing is read ahead, the moment
    of a read tells whose it is.

    Args:
        tasks: In order of time.
        loop: The batches.
        shuffled: Tasks that fill a shuffle buffer before the first batch is made; -1 is all of an epoch.
        by_loop: Whether the loop reads itself, for the batch that it asked for last.
        on_demand: Whether others read no batch before it is asked for, or the step before it runs.
        may_cache: Whether a cache of the framework's may serve batches.
        fetches: When a loader's batches were put together, which tells their epochs; None if not known.
    """
    if not loop.known:
        return _of_bursts(tasks, loop)
    epochs = int(tasks.epoch.max(initial=0)) + 1
    epoch = _epochs(tasks, loop, epochs) if fetches is None else _told_epochs(loop, fetches)
    batch, late_s = np.zeros(len(tasks), int), np.zeros(epochs)
    for number in range(epochs):
        mine, steps = np.flatnonzero(tasks.epoch == number), np.flatnonzero(epoch == number)
        if not len(mine):
            continue
        if not len(steps):
            # An epoch that ends before the loop asks for another batch.
            batch[mine] = np.maximum.accumulate(loop.place(tasks.begin_s[mine]))
            continue
        if may_cache:
            steps = _that_need(steps, mine, tasks, loop)
        first = len(mine) if shuffled < 0 else min(shuffled, len(mine))
        place = np.floor((np.arange(len(mine)) - first) * len(steps) / len(mine))
        batch[mine] = steps[np.clip(place, 0, len(steps) - 1).astype(int)]
        late_s[number] = tasks.begin_s[mine[0]] - loop.ask_s[steps[0]]
    if by_loop:
        batch = loop.place(tasks.begin_s)
    elif on_demand:
        batch = np.minimum(np.searchsorted(loop.got_s, tasks.begin_s, side="right"), len(loop.got_s) - 1)
    if fetches is not None:
        late_s = _told_late_s(late_s, loop, epoch, fetches)
    late_s = np.where(late_s < 0, np.where(np.arange(len(late_s)) > 0, np.nan, 0.0), late_s)
    order = np.argsort(batch, kind="stable")
    columns = {field.name: getattr(tasks, field.name)[..., order] for field in dataclasses.fields(tasks)}
    return TaskBatches(ReadTasks(**columns), batch[order], epoch, late_s)


def _told_epochs(loop: LoopTimes, fetches: LoaderFetches) -> Array:
    return fetches.epochs_of_batches(np.round(1e9 * loop.got_s))


def _told_late_s(late_s: Array, loop: LoopTimes, epoch: Array, fetches: LoaderFetches) -> Array:
    """Return how long after an epoch's first request its first task began: as its first batch was made."""
    begun_s, done_s = (one / 1e9 for one in fetches.first_ns())
    found, count = np.zeros(max(len(begun_s), len(late_s))), len(late_s)
    found[:count] = late_s
    for number in range(len(begun_s)):
        steps = np.flatnonzero(epoch == number)
        if len(steps):
            asked_s = loop.ask_s[steps[0]]
            found[number] = np.clip(found[number] + asked_s, begun_s[number], done_s[number]) - asked_s
    return found


def _of_bursts(tasks: ReadTasks, loop: LoopTimes) -> TaskBatches:
    batch, epoch = loop.place(tasks.begin_s), np.zeros(len(loop.ask_s), int)
    np.maximum.at(epoch, batch, tasks.epoch)
    epoch = np.maximum.accumulate(epoch)
    return TaskBatches(tasks, batch, epoch, np.zeros(int(tasks.epoch.max(initial=0)) + 1))


def _that_need(steps: Array, mine: Array, tasks: ReadTasks, loop: LoopTimes) -> Array:
    """Return the batches of an epoch that need calls: those asked for after its last task need none.

    A framework's cache that was filled serves these: readers are ahead by less than half of an epoch.
    """
    asked = steps[loop.ask_s[steps] <= tasks.begin_s[mine[-1]]]
    return asked if 0 < 2 * len(asked) < len(steps) else steps


def _epochs(tasks: ReadTasks, loop: LoopTimes, epochs: int) -> Array:
    """Return the epoch of each batch: the last one whose first task began before the next batch was due."""
    if epochs == 1:
        return np.zeros(len(loop.ask_s), int)
    begin_s = [tasks.begin_s[np.searchsorted(tasks.epoch, number)] for number in range(epochs)]
    return np.clip(np.searchsorted(begin_s, loop.next_s, side="left") - 1, 0, None)
