"""Fixes of how batches come from worker processes to the loop, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob, solved
from tfdarshan.replay.job_model import JobModel
from tfdarshan.replay.priors import SETTING

# What readers do for a batch, and what it then takes to hand it over.
PREPARING = ("limit_s", "wait_s", "transfer_s", "seek_s", "work_s", "behind_s", "hand_s")


def started_s(job: ModelledJob, before: int, count: float) -> float:
    """Return how long it takes to start some processes at once, which share the processors.

    Args:
        job: The job, which shows what starting one takes: one that is no fork imports what the job does.
        before: Processes that it starts now as readers of its input.
        count: Those that are started.
    """
    cpus, late_s = job.facts.processors.cpus or np.inf, job.model.late_s
    shown_s = late_s[late_s > 0][:1] / max(1.0, before / cpus) if before else late_s[:0]
    each_s = float(shown_s[0]) if len(shown_s) else SETTING["worker_start"]
    return each_s * max(1.0, count / cpus)


@dataclass(frozen=True)
class Sooner:
    """Batches that come sooner: the session shows what the loop waited for that a fix spares.

    Attributes:
        spared_s: That, of all recorded batches together.
    """

    spared_s: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job whose batches take less to prepare, so that the loop waits so much less in all."""
        model, run = job.model, job.run
        goal_s = run.total_s - np.minimum(self.spared_s, run.wait_s)

        def part_of(part: Array) -> JobModel:
            return model.but(**{name: getattr(model, name) * part for name in PREPARING})

        part = solved(part_of, goal_s, np.zeros_like(goal_s), 1.0)
        return job.but(**{name: getattr(model, name) * part for name in PREPARING})


@dataclass(frozen=True)
class OwnProcessor:
    """A training loop that has a processor to itself whenever it computes.

    Attributes:
        left: What is then left of the time that it computes, a share.
    """

    left: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job whose loop takes no turns with workers, however many work beside it."""
        compute_s = job.model.compute_s * self.left
        return job.but(compute_s=compute_s, alone=np.zeros_like(job.model.alone))


@dataclass(frozen=True)
class WorkersKept:
    """Workers that live on: no epoch but the first begins with starting them, which takes processors."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job whose later epochs begin when they are asked for; of a single epoch, the same."""
        model = job.model
        late_s = model.late_s.copy()
        late_s[1:] = np.minimum(late_s[1:], 0.0)
        spared_s = float(np.nansum(model.late_s - late_s)) * np.minimum(model.readers, model.processors)
        return job.but(late_s=late_s, other_work_s=np.maximum(model.other_work_s - spared_s, 0.0))
