"""Fixes of a job's input pipeline, as edits of its network. Any of them go together.

An edit changes what the fix changes, and computes no gain: that is one simulation over another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from tfdarshan.ahead import CALLS_PER_THREAD
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import READ, TINY_S, JobModel
from tfdarshan.replay.loader_edits import start_work_s, started_s
from tfdarshan.replay.prior_model import (
    all_processors,
    behind_share,
    decoded_behind,
    processors,
    runs_ahead,
    shares_lock,
    work_serial,
)
from tfdarshan.replay.priors import SETTING, Drawn
from tfdarshan.replay.read_tasks import ReadTasks

Edit = Callable[[ModelledJob], ModelledJob]
# What a task needs.
DEMANDS = ("limit_s", "transfer_s", "seek_s", "work_s", "behind_s", "wait_s", "requests", "calls", "jumps")


def edited(job: ModelledJob, *edits: Edit) -> ModelledJob:
    """Return the job with some fixes, made one after the other."""
    return reduce(lambda made, edit: edit(made), edits, job)


@dataclass(frozen=True)
class Readers:
    """So many readers, more or fewer than there are.

    Attributes:
        count: How many.
    """

    count: int = int(SETTING["readers"])

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; readers of records have a file each."""
        most = job.facts.storage.files if job.facts.pipeline.records else self.count
        return _with_readers(job, np.full(job.model.samples, max(1, min(self.count, most))))


@dataclass(frozen=True)
class DecodeCalls:
    """Decoding by several calls at a time; what decodes as it reads files reads as many.

    Attributes:
        calls: How many; -1 is AUTOTUNE.
    """

    calls: int = -1

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; the same if as many run already."""
        if job.facts.pipeline.parallel_behind == self.calls:
            return job
        model = job.model
        left = processors(job.facts, job.drawn, model.readers + (job.facts.processors.cpus or 0.0))
        tuned = np.round(np.minimum(left, len(job.facts.batch) + 1) * job.drawn["autotuned_calls"])
        # The framework has a thread for each processor.
        tuned = np.maximum(2, np.minimum(tuned, job.facts.processors.cpus or np.inf))
        calls = tuned.astype(int) if self.calls < 0 else np.full(model.samples, self.calls)
        if not job.facts.pipeline.records:
            return _with_readers(job, calls)
        job = _split_behind(job)
        serial = 1 / np.minimum(calls, left)
        return job.but(behind_serial=serial, calls_ahead=np.maximum(model.calls_ahead, calls))


@dataclass(frozen=True)
class Prefetch:
    """Batches that are put together while the loop computes.

    Attributes:
        batches: How many; -1 is AUTOTUNE.
    """

    batches: int = -1

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with as many, or more if there are more; a process beside the loop prepares them."""
        if job.facts.pipeline.processes == 0:
            job = _with_readers(job, np.maximum(job.model.readers, 1))
        tuned = np.round(job.drawn["autotuned_batches"]).astype(int)
        batches = tuned if self.batches < 0 else np.full(job.model.samples, self.batches)
        return job.but(batches_ahead=np.maximum(job.model.batches_ahead, batches))


@dataclass(frozen=True)
class CacheInMemory:
    """Samples that stay in memory once they are read: later epochs read nothing.

    Attributes:
        decoded: They stay as they are decoded; else later epochs decode them again.
        works_behind: Functions behind the cache still work on them in each epoch.
        loads_first: The loop reads all of them itself before the first epoch, one after the other.
        all_input: How many times as much that is as all recorded batches took; None: as the first epoch took.
    """

    decoded: bool = True
    works_behind: bool = False
    loads_first: bool = False
    all_input: float | None = None

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it; of a single epoch, the same."""
        if not self.loads_first:
            return self._kept_of(job, job.facts.tasks.epoch > 0)
        model, first = job.model, job.facts.tasks.epoch == 0
        # One thread needs as long as several together.
        work_s = (model.work_s + model.behind_s) * model.processors_each * self.decoded
        of_task_s = model.limit_s + model.storage_s + work_s
        # A rank, or a session that begins late, takes a part of the data set in its first epoch.
        taken = model.weight[model.epoch == model.epoch[0]].sum() / model.weight.sum()
        loading_s = (
            (model.weight[model.batch] * first) @ of_task_s * max(1.0, (self.all_input or 0.0) / taken)
        )
        stall_s = model.stall_s + np.zeros(loading_s.shape)
        stall_s[0] += loading_s / model.weight[0]
        return self._kept_of(job, np.ones(model.tasks, bool)).but(stall_s=stall_s)

    def _kept_of(self, job: ModelledJob, tasks: Array) -> ModelledJob:
        """Return the job with some tasks' samples in memory."""
        model, later = job.model, tasks[:, None]
        nothing = {
            name: np.where(later, 0.0, getattr(model, name))
            for name in ("limit_s", "wait_s", "transfer_s", "seek_s")
        }
        calls = np.where(later[:, 0], 0.0, model.calls)
        job = job.but(**nothing, calls=calls)
        if not self.decoded:
            return job
        kept_s = np.minimum(model.work_s + model.behind_s + model.storage_s, job.drawn["kept_task_s"])
        left = job.drawn["worked_behind"] * self.works_behind
        return job.but(
            behind_s=np.where(later, left * model.behind_s, model.behind_s),
            work_s=np.where(later, kept_s + left * model.work_s, model.work_s),
        )


@dataclass(frozen=True)
class ShufflePaths:
    """A shuffle of names in front of the readers, in place of samples behind them: no buffer to fill."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it: each batch of an epoch needs as many tasks as another one."""
        model, epochs = job.model, job.facts.tasks.epoch
        batch, part = model.batch.copy(), np.ones(model.tasks)
        for number in np.unique(epochs).tolist():
            mine, steps = np.flatnonzero(epochs == number), np.flatnonzero(model.epoch == number)
            if len(steps):
                batch[mine] = steps[np.arange(len(mine)) * len(steps) // len(mine)]
                # Batches stand for others: together they need what they needed.
                part[mine] = model.weight[model.batch[mine]].sum() / model.weight[batch[mine]].sum()
        return _tasks_times(job, part).but(batch=np.maximum.accumulate(batch))


@dataclass(frozen=True)
class Uncompressed:
    """Records that are not compressed: more bytes, and no unpacking."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        model, times = job.model, job.drawn["inflated_times"]
        unpacked_s = job.facts.tasks.size[:, None] * job.drawn["inflate_s_per_byte"]
        return job.but(
            transfer_s=model.transfer_s * times, limit_s=model.limit_s * times,
            work_s=np.maximum(model.work_s - unpacked_s, 0.0),
        )  # fmt: skip


@dataclass(frozen=True)
class PartOfInput:
    """A rank that prepares a part of what it prepares now for each batch, of as many batches.

    Attributes:
        part: Which share of it.
    """

    part: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it: tasks need as much less of all that they need."""
        return job.but(**{name: getattr(job.model, name) * self.part for name in DEMANDS})


def _tasks_times(job: ModelledJob, part: Array) -> ModelledJob:
    """Return the job whose tasks need so many times as much, shape (tasks,)."""
    names = ("limit_s", "wait_s", "transfer_s", "seek_s", "work_s", "behind_s")
    return job.but(**{name: getattr(job.model, name) * part[:, None] for name in names})


def _with_readers(job: ModelledJob, count: Array) -> ModelledJob:
    """Return the job with so many readers. Threads of Python get its lock back after each of its calls."""
    model, drawn, pipeline = job.model, job.drawn, job.facts.pipeline
    if pipeline.processes is not None:
        job = _with_starts(job, count)
        model = job.model
    # Threads that one reader in Python hands its reads to go on while the loop computes: `map_ahead`.
    handed = shares_lock(job.facts) & (model.readers == 1)
    ahead = np.where(handed, CALLS_PER_THREAD * count, count + decoded_behind(job.facts, drawn))
    ahead = np.where(
        runs_ahead(job.facts) | handed | model.whole_batches,
        np.where((count > 1) | model.whole_batches, ahead, 0),
        model.calls_ahead,
    )
    # More readers leave no less begun than what is behind them has begun by another edit.
    ahead = np.where(count > model.readers, np.maximum(ahead, model.calls_ahead), ahead)
    # An arm that has more places to go to moves less for each.
    nearer = _moves(model, drawn, count, ahead) / _moves(model, drawn, model.readers, model.calls_ahead)
    # More threads get more of the processors that other programs use.
    now, then = (all_processors(job.facts, drawn, readers) for readers in (None, count))
    turns = work_serial(job.facts, drawn, count) / work_serial(job.facts, drawn)
    changes = {
        "readers": count, "calls_ahead": ahead, "seek_s": model.seek_s * nearer,
        "processors": model.processors * np.divide(then, now, out=np.ones(len(now)), where=now < np.inf),
        "work_serial": model.work_serial * turns,
    }  # fmt: skip
    if not pipeline.order_kept:
        changes |= {"in_order": np.zeros_like(model.in_order)}
    if shares_lock(job.facts):
        threads = (count > 1) & handed
        asked = asked_calls(job.facts.tasks, model.calls)
        handed_s = asked[:, None] * drawn["handover_s"] * threads
        whole_s = np.maximum((model.work_s + handed_s).sum(0), TINY_S)
        serial = ((model.work_s * changes["work_serial"] + handed_s).sum(0) / whole_s).clip(0, 1)
        changes |= {
            "work_s": model.work_s + handed_s,
            "work_serial": np.where(threads, serial, changes["work_serial"]),
        }
    made = job.but(**changes)
    if not pipeline.records:
        return made
    return _split_behind(made)


def _with_starts(job: ModelledJob, count: Array) -> ModelledJob:
    """Return the job with so many processes as readers, which are started, and have some batches ready.

    All of them start at once. Who had none starts them once.
    """
    model, pipeline = job.model, job.facts.pipeline
    before = pipeline.processes or 0
    if pipeline.whole_batches and not model.whole_batches:
        job = _with_handing_over(job).but(whole_batches=True)
    first = np.arange(len(model.late_s))[:, None] == 0
    starts = first if pipeline.kept or not before else model.late_s > 0
    longer_s = started_s(job, count) - (started_s(job, before) if before else 0.0)
    each = model.batches_ahead / model.readers if before else int(SETTING["worker_batches"]) - 1
    ahead = np.round(each * count).astype(int)
    return job.but(
        late_s=np.where(starts, np.maximum(np.nan_to_num(model.late_s) + longer_s, 0.0), model.late_s),
        other_work_s=job.model.other_work_s + start_work_s(job) * (count - before) * int(starts.any(1).sum()),
        batches_ahead=ahead if pipeline.whole_batches else np.maximum(model.batches_ahead, ahead),
    )


def _with_handing_over(job: ModelledJob) -> ModelledJob:
    """Return the job whose batches go from one process to another: both work for that."""
    model = job.model
    each_s = np.full((model.batches, 1), 1.0) * job.drawn["handed_s"]
    tasks = np.bincount(model.batch, minlength=model.batches)
    work_s = (each_s / np.maximum(tasks, 1)[:, None])[model.batch]
    return job.but(
        work_s=model.work_s + work_s,
        hand_s=model.hand_s + each_s,
        other_work_s=model.other_work_s + model.weight @ each_s,
    )


def _moves(model: JobModel, drawn: Drawn, readers: Array, ahead: Array) -> Array:
    """Return how far an arm moves for a task, of what it moves for one alone, shape (samples,).

    Readers that go no further than a batch leave it fewer places to go to, the fewer of its tasks are left.
    """
    left = np.arange(1, round(model.tasks_per_batch) + 1)[:, None]
    waiting = np.where(ahead > 0, readers, np.minimum(readers, left))
    return (np.maximum(waiting, 1.0) ** -drawn["elevator"]).mean(0)


def asked_calls(tasks: ReadTasks, calls: Array) -> Array:
    """Return how many calls the program's own code makes, shape (tasks,): it makes one for a chain of reads.

    Args:
        tasks: As they were recorded.
        calls: How many of each kind they make, as `job_model.CALLS`, shape (kinds, tasks).
    """
    return calls.sum(0) - np.maximum(calls[READ] - tasks.asked_reads, 0.0)


def _split_behind(job: ModelledJob) -> ModelledJob:
    """Return the job with a part of its readers' work behind them, unless there is some."""
    model = job.model
    if np.any(model.behind_s > 0):
        return job
    behind = behind_share(job.facts, job.drawn)
    return job.but(work_s=model.work_s * (1 - behind), behind_s=model.work_s * behind)
