"""Fixes of what the training loop stands still for, and of how often it steps, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.storage.serialization import call_time
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_facts import BatchFacts
from tfdarshan.replay.job_model import TINY_S, JobModel
from tfdarshan.replay.loader_edits import started_s
from tfdarshan.replay.priors import SETTING
from tfdarshan.thresholds import THRESHOLD


@dataclass(frozen=True)
class BackgroundSaves:
    """Checkpoints that are copied, and written beside training.

    Attributes:
        fast_tier: The copy goes to a fast tier, not to memory.
    """

    fast_tier: bool = False

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: what was waited for goes on beside the next steps, if storage has to.

        A thread makes one save after the other, and the job has ended when the last one is on disk. What is
        on a fast tier is copied to the slow one and read there once more, and counts when it is durable: of
        a local disk memory may have taken what was never synced.
        """
        model, batches = job.model, job.facts.batches
        saved = batches.write_bytes > THRESHOLD["save"]
        wrote_s = np.where(saved, batches.write_s, 0.0)[:, None]
        rate = job.drawn["burst_bytes_per_s" if self.fast_tier else "snapshot_bytes_per_s"]
        copied_s = np.minimum(wrote_s, np.where(saved, batches.write_bytes, 0)[:, None] / rate)
        job = _without_writes(job, wrote_s)
        moves = _drained_times(job) if self.fast_tier else 1.0
        beside_s = model.beside_s + moves * (model.write_s - job.model.write_s)
        save_s = model.save_s + moves * (wrote_s + _rested_s(batches)[:, None])
        return job.but(stall_s=job.model.stall_s + copied_s, beside_s=beside_s, save_s=save_s)


@dataclass(frozen=True)
class BufferedWrites:
    """Small writes, and their syncs, that are kept until the end of the run."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        batches = job.facts.batches
        small_s = np.where(batches.write_bytes > THRESHOLD["save"], 0.0, batches.write_s)
        return _without_writes(job, small_s[:, None])


@dataclass(frozen=True)
class SyncsBehind:
    """Syncs that a thread makes, so that the loop waits for none of them.

    Attributes:
        every_s: How often a file is synced at most, in seconds.
    """

    every_s: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: few go on beside the steps, but of what is large all bytes do."""
        model, batches = job.model, job.facts.batches
        syncing = float(batches.weight @ (batches.sync_s > 0))
        left = min(1.0, batches.total_s / self.every_s / max(syncing, 1.0))
        part = np.where(batches.write_bytes > THRESHOLD["save"], 1.0, left)[:, None]
        job = _without_writes(job, batches.sync_s[:, None])
        return job.but(beside_s=model.beside_s + part * (model.write_s - job.model.write_s))


@dataclass(frozen=True)
class ValidationReaders:
    """Readers for a validation set. Processes are started for the first pass, and live on.

    Attributes:
        count: How many.
    """

    count: int = int(SETTING["readers"])

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; the same if as many read it already."""
        model, before = job.model, job.facts.validation_readers
        count = max(self.count, before)
        # What is at its limit gives no more to more readers.
        shares = np.where(model.limit_s.sum(0) > 0, 1.0, _storage_serial(model)).tolist()
        each = [call_time(share, count) / call_time(share, before) for share in shares]
        left = np.array(each) * before / count
        stall_s = _without_validation(job, 1 - left)
        if job.facts.pipeline.processes is not None:
            first = int(np.argmax(job.facts.batches.validation_s > 0))
            stall_s[first] += started_s(job, count) / model.weight[first]
        return job.but(stall_s=stall_s)


@dataclass(frozen=True)
class ValidationCached:
    """A validation set that stays in memory once it was read."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it: the first reading of it is left."""
        later = np.cumsum(job.facts.batches.validation_s > 0) > 1
        return job.but(stall_s=_without_validation(job, later[:, None]))


@dataclass(frozen=True)
class FewerSteps:
    """Epochs of fewer steps, each of which reads and computes as much as now.

    Attributes:
        part: The share of the steps that is left.
    """

    part: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: starting an epoch, validation and saves take as long as before."""
        model, batches, times = job.model, job.facts.batches, 1 / self.part
        saved = (batches.write_bytes > THRESHOLD["save"])[:, None]
        once_s = np.where(saved, model.stall_s, np.minimum(model.stall_s, batches.validation_s[:, None]))
        written = {
            name: getattr(model, name) * np.where(saved, times, 1.0)
            for name in ("write_s", "beside_s", "save_s")
        }
        return job.but(
            weight=model.weight * self.part, late_s=model.late_s * times,
            stall_s=model.stall_s + (times - 1) * once_s, **written,
            other_work_s=model.other_work_s * self.part, loop_s=model.loop_s * self.part,
        )  # fmt: skip


def _drained_times(job: ModelledJob) -> Array:
    """Return how many times as long as a save its way from a fast tier to storage takes, shape (samples,)."""
    in_memory = job.facts.storage.local and not job.facts.batches.sync_s.any()
    return job.drawn["drained_times"] * np.where(in_memory, job.drawn["durable_times"], 1.0)


def _rested_s(batches: BatchFacts) -> Array:
    """Return what each save would have taken longer without the rest before it, in seconds, shape (batches,).

    Storage that takes some bytes at once, up to a limit or as memory has room, gets such room back while
    nothing is written. The first save, which finds all of it, then takes less than later ones of its size.
    """
    saves = np.flatnonzero(batches.write_bytes > THRESHOLD["save"])
    rested_s = np.zeros(len(batches.write_s))
    if len(saves) < 2:
        return rested_s
    s_per_byte = batches.write_s[saves] / batches.write_bytes[saves]
    lent_s = max(0.0, float(s_per_byte[1:].min() - s_per_byte[0])) * batches.write_bytes[saves[1:]]
    ended_s = np.cumsum(batches.recorded_s)
    between_s = np.diff(ended_s[saves]) - batches.write_s[saves[1:]]
    rested_s[saves[1:]] = np.minimum(between_s, lent_s)
    return rested_s


def _without_writes(job: ModelledJob, spared_s: Array) -> ModelledJob:
    """Return the job whose loop stands still less for output: first of that on the input's storage."""
    model = job.model
    here_s = np.minimum(model.write_s, spared_s)
    return job.but(
        write_s=model.write_s - here_s, stall_s=np.maximum(model.stall_s - (spared_s - here_s), 0.0)
    )


def _storage_serial(model: JobModel) -> Array:
    """Return the share of what storage takes that it serves one task at a time, as of the training set."""
    parts_s = (model.wait_s.sum(0), model.transfer_s, model.seek_s)
    wait_s, transfer_s, seek_s = (part_s.sum(0) for part_s in parts_s)
    serial_s = model.wait_serial * wait_s + model.transfer_serial * transfer_s + seek_s
    return serial_s / np.maximum(wait_s + transfer_s + seek_s, TINY_S)


def _without_validation(job: ModelledJob, part: object) -> Array:
    spared_s = job.facts.batches.validation_s[:, None] * np.asarray(part, float)
    return np.maximum(job.model.stall_s - spared_s, 0.0)
