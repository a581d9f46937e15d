"""Fixes of page faults on mapped files, as edits of a job's network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.mapped_waits import PAGE_BYTES
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import Prefetch, Readers
from tfdarshan.replay.job_model import READ, JobModel
from tfdarshan.replay.read_requests import tasks_of


@dataclass(frozen=True)
class ReadsAhead:
    """Threads that read what the next batches need, a batch each, before anybody touches it.

    Attributes:
        threads: How many.
        first: Bytes that come in before the first batch, as a share of those that the run reads.
    """

    threads: int
    first: float = 0.0

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with as many, or more if there are more."""
        threads = max(self.threads, round(job.facts.pipeline.readers))
        job = Prefetch(threads)(Readers(threads)(job))
        tasks = int(np.ceil(threads * job.model.tasks_per_batch))
        job = job.but(calls_ahead=np.maximum(job.model.calls_ahead, tasks))
        return job.but(**{name: self._with_first(job.model, name) for name in ("transfer_s", "limit_s")})

    def _with_first(self, model: JobModel, name: str) -> Array:
        """Return what tasks take, the first one for what comes in with it as well."""
        taken_s: Array = getattr(model, name).copy()
        taken_s[:1] += self.first * (model.weight[model.batch] @ taken_s)
        return taken_s


@dataclass(frozen=True, eq=False)
class LargerWindow:
    """Reads that go on where the last one ended and bring so much at a time.

    Attributes:
        window: Bytes that one of them brings.
        files: Of which files, as a mask over rows of the session's file table.
    """

    window: int
    files: Array

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job that waits once for each such window."""
        model, tasks = job.model, job.facts.tasks
        reads = np.maximum(model.calls[READ], 1.0)
        goes_on = (1 - np.minimum(model.jumps / reads, 1.0)) * tasks_of(job, self.files)
        fewer = 1 - goes_on * (1 - np.minimum(tasks.size / reads / self.window, 1.0))
        return _with_requests(job, fewer[:, None])


@dataclass(frozen=True, eq=False)
class TouchedPages:
    """Reads of the pages that are touched, and nothing around them.

    Attributes:
        pages: How many were touched, at least and at most.
        waits: Faults that waited.
        came_in: Bytes that these read.
        files: Of which files, as a mask over rows of the session's file table.
        apart: Each page is waited for by itself; else as few reads bring them.
    """

    pages: tuple[float, float]
    waits: float
    came_in: float
    files: Array
    apart: bool = True

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with fewer bytes, and with more waits if pages are read apart."""
        model, mine = job.model, tasks_of(job, self.files)[:, None]
        least, most = self.pages
        pages = least + (most - least) * job.drawn["touched_place"]
        left = np.where(mine, np.minimum(pages * PAGE_BYTES / self.came_in, 1.0), 1.0)
        if self.apart:
            job = _with_requests(job, np.where(mine, pages / self.waits, 1.0))
        return job.but(transfer_s=model.transfer_s * left, limit_s=model.limit_s * left)


def _with_requests(job: ModelledJob, times: Array) -> ModelledJob:
    """Return the job whose reads wait for storage so many times as often, by task."""
    model = job.model
    wait_s = model.wait_s + np.zeros(model.samples)
    wait_s[READ] *= times
    return job.but(wait_s=wait_s, requests=model.requests * times)
