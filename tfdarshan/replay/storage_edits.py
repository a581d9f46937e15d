"""Fixes of what a job asks storage for, and of the storage, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import CALLS, OPEN, PROBE, READ, STAT, TINY_S
from tfdarshan.replay.prior_model import moves_arm
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_requests import REQUEST, WINDOW, in_requests, requests_of


@dataclass(frozen=True)
class OtherStorage:
    """Storage of another latency and bandwidth.

    Attributes:
        latency: Its waits, as a share of those recorded.
        bandwidth: Its bandwidth, and limits, in times of that recorded.
    """

    latency: float = 1.0
    bandwidth: float = 1.0

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job on it."""
        model = job.model
        return job.but(
            wait_s=model.wait_s * self.latency, seek_s=model.seek_s * self.latency,
            transfer_s=model.transfer_s / self.bandwidth, limit_s=model.limit_s / self.bandwidth,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Staged:
    """Files copied to a fast tier before the run.

    Attributes:
        files: Which, as a mask over rows of the session's file table; None is all.
    """

    files: Array | None = None

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job that reads the copies; a validation set is copied with all files."""
        model, drawn, tasks = job.model, job.drawn, job.facts.tasks
        staged = np.ones((len(tasks), 1), bool) if self.files is None else self.files[tasks.file][:, None]
        waits_s = np.minimum(model.wait_s, model.calls[:, :, None] * drawn["fast_call_s"])
        transfers_s = np.minimum(model.transfer_s, tasks.size[:, None] / drawn["fast_bytes_per_s"])
        made = job.but(
            wait_s=np.where(staged, waits_s, model.wait_s),
            transfer_s=np.where(staged, transfers_s, model.transfer_s),
            seek_s=np.where(staged, 0.0, model.seek_s),
            limit_s=np.where(staged, 0.0, model.limit_s),
        )
        if self.files is not None:
            return made
        slow_s = np.maximum((model.storage_s + model.limit_s).sum(0), TINY_S)
        spared = np.maximum(1 - made.model.storage_s.sum(0) / slow_s, 0.0)
        validation_s = job.facts.batches.validation_s[:, None]
        # What is written stays where it was: nobody reads there now, or moves an arm between writes.
        moved = np.where(moves_arm(drawn, model.wait_serial), drawn["sequential_left"], 1.0)
        stall_s = np.maximum(model.stall_s - validation_s * spared, 0.0) + model.write_s * moved
        nothing = np.zeros_like(model.write_s)
        return made.but(stall_s=stall_s, write_s=nothing, beside_s=nothing)


@dataclass(frozen=True)
class Without:
    """No calls of a kind.

    Attributes:
        kind: Of `job_model.CALLS`.
    """

    kind: Literal["open", "stat", "probe"]

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job without them, and without the time that Python takes for them."""
        return _without(job, CALLS.index(self.kind))


@dataclass(frozen=True)
class SequentialReads:
    """Reads in the order in which the data lies: no call moves to another place."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; where the kernel reads ahead, it asks storage for a window at a time."""
        job = _in_order(job)
        return in_requests(job, WINDOW, job.drawn["reads_ahead"])


@dataclass(frozen=True)
class LargeReads:
    """Reads as large as what storage can be asked for, in place of small ones.

    Attributes:
        request_bytes: What is asked for at a time.
    """

    request_bytes: float = REQUEST

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: what is read is asked for in such requests, and nothing else changes."""
        model, made = job.model, job.model.calls[READ]
        calls = model.calls.copy()
        calls[READ] = np.minimum(made, requests_of(job, self.request_bytes))
        spared_s = (made - calls[READ])[:, None] * job.drawn["python_call_s"] * job.facts.pipeline.python
        job = in_requests(job, self.request_bytes, np.full(model.samples, True))
        return job.but(calls=calls, work_s=_less(model.work_s, spared_s))


@dataclass(frozen=True)
class Shards:
    """Samples as records of a few large files, read in order by one reader of a framework's, or as before."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        for kind in (OPEN, STAT, PROBE):
            job = _without(job, kind)
        job = _without_slow_files(_in_order(job))
        if not job.facts.pipeline.framework or job.facts.pipeline.python:
            return LargeReads()(job)
        job = LargeReads(WINDOW)(job)
        # What read and decoded files at a time now decodes what one reader reads.
        model = job.model
        return job.but(
            readers=np.ones(model.samples, int), work_s=np.zeros_like(model.work_s),
            behind_s=model.behind_s + model.work_s,
            behind_serial=np.maximum(model.work_serial, 1 / model.readers),
        )  # fmt: skip


@dataclass(frozen=True)
class Uncompressed:
    """Records that are not compressed: more bytes, and no unpacking."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        model, times = job.model, job.drawn["inflated_times"]
        unpacked_s = job.facts.tasks.size[:, None] * job.drawn["inflate_s_per_byte"]
        return job.but(
            transfer_s=model.transfer_s * times, limit_s=model.limit_s * times,
            work_s=_less(model.work_s, unpacked_s),
        )  # fmt: skip


def _without(job: ModelledJob, kind: int) -> ModelledJob:
    model = job.model
    wait_s, calls = model.wait_s.copy(), model.calls.copy()
    wait_s[kind], calls[kind] = 0.0, 0.0
    spared_s = model.calls[kind][:, None] * job.drawn["python_call_s"] * job.facts.pipeline.python
    return job.but(wait_s=wait_s, calls=calls, work_s=_less(model.work_s, spared_s))


def _without_slow_files(job: ModelledJob) -> ModelledJob:
    """Return the job without what a few files take longer than all others: their data lies elsewhere now."""
    names = ("wait_s", "transfer_s", "limit_s")
    most = {name: np.quantile(getattr(job.model, name), SETTING["few_files"], axis=-2) for name in names}
    return job.but(**{name: np.minimum(getattr(job.model, name), most[name][..., None, :]) for name in names})


def _in_order(job: ModelledJob) -> ModelledJob:
    """Return the job whose reads follow each other: none moves an arm, or begins a request for its place."""
    return job.but(seek_s=np.zeros_like(job.model.seek_s), jumps=np.zeros_like(job.model.jumps))


def _less(work_s: Array, spared_s: Array) -> Array:
    """Return processor times without what is spared, which is no more than all of them."""
    found: Array = np.maximum(work_s - spared_s, 0.0)
    return found
