"""Fixes of how batches come from worker processes to the loop, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob, solved
from tfdarshan.replay.job_model import JobModel
from tfdarshan.replay.prior_model import all_processors

# What readers do for a batch, and what it then takes to hand it over.
PREPARING = ("limit_s", "wait_s", "transfer_s", "seek_s", "work_s", "behind_s", "hand_s")


def started_s(job: ModelledJob, count: Array | float) -> Array:
    """Return how long it takes to start some processes at once, which share the processors, shape (samples,).

    Args:
        job: The job.
        count: How many.
    """
    return start_work_s(job) * _turns(job, count)


def start_work_s(job: ModelledJob) -> Array:
    """Return the processor time that starting a process takes, and ending it, shape (samples,).

    A job that starts some shows the least of it: one that is no fork imports what the job does.
    """
    pipeline, each_s = job.facts.pipeline, job.drawn["worker_start_s"]
    if not pipeline.processes:
        return each_s
    shown_s = float(np.nan_to_num(pipeline.late_s[:1]).sum())
    return np.maximum(each_s, shown_s / _turns(job, pipeline.processes))


def _turns(job: ModelledJob, count: Array | float) -> Array:
    """Return how many times longer processes take because they share the processors, shape (samples,)."""
    processes = np.zeros(job.model.samples) + count
    return np.maximum(1.0, processes / all_processors(job.facts, job.drawn, processes))


@dataclass(frozen=True)
class Sooner:
    """Batches that come sooner: the session shows what the loop waited for that a fix spares.

    Attributes:
        spared_s: That, of all recorded batches together.
    """

    spared_s: float | Array

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job whose batches take less to prepare, so that the loop waits so much less in all."""
        model, run = job.model, job.run
        goal_s = run.total_s - np.minimum(self.spared_s, run.wait_s)

        def part_of(part: Array) -> JobModel:
            return model.but(**{name: getattr(model, name) * part for name in PREPARING})

        part = solved(part_of, goal_s, np.zeros_like(goal_s), 1.0)
        return job.but(**{name: getattr(model, name) * part for name in PREPARING})


@dataclass(frozen=True)
class SmallerBatches:
    """Batches of fewer bytes, which come sooner from their workers.

    Attributes:
        left: The share of the bytes that is left.
        ways_s: How long the loop waited, for all batches together, while one was on its way.
        count: How many of them it waited for.
        each_bytes: How many bytes a batch has; 0 if that is unknown.
    """

    left: float
    ways_s: float
    count: int
    each_bytes: int = 0

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: what a way takes without any bytes is not spared."""
        by_bytes_s = np.maximum(self.ways_s - self.count * job.drawn["handed_s"], 0.0)
        if self.each_bytes:
            by_bytes_s = np.minimum(by_bytes_s, self.count * self.each_bytes * job.drawn["handed_s_per_byte"])
        return Sooner((1 - self.left) * by_bytes_s)(job)


@dataclass(frozen=True)
class WorkersKept:
    """Workers that live on: no epoch but the first begins with starting them, which takes processors."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job whose later epochs begin when they are asked for; of a single epoch, the same."""
        model = job.model
        late_s = model.late_s.copy()
        late_s[1:] = np.minimum(late_s[1:], 0.0)
        spared_s = np.nansum(model.late_s - late_s, axis=0) * np.minimum(model.readers, model.processors)
        return job.but(late_s=late_s, other_work_s=np.maximum(model.other_work_s - spared_s, 0.0))
