"""Where the steps of all jobs went, part by part, as Alibaba breaks its cluster down (arXiv 1910.05930).

A part is known of the jobs that say it: T_s if their steps say what they waited, T_d and T_w if a trace of
the device is beside them, and T_c, what is left, if all of these are known. No other job counts as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.fleet.job_table import HOUR_S, JobTable
from tfdarshan.native.spool_reader import Array

STORAGE, DATA, COMPUTE, WEIGHTS = "T_s", "T_d", "T_c", "T_w"
PARTS = {
    STORAGE: "input wait",
    DATA: "copies to the device",
    COMPUTE: "computing",
    WEIGHTS: "communication",
}


@dataclass(frozen=True)
class StepPart:
    """One part of the steps, over the jobs that say it.

    Attributes:
        name: T_s, T_d, T_c or T_w.
        what: That in words.
        known_jobs: How many jobs say it; of no other is anything in the figures.
        hours: What it took of these, added up; None if no job says it.
        steps_hours: What the steps of these took; None likewise.
        mean_share: Its share of a job's steps, the mean over these jobs, each counted once; None likewise.
    """

    name: str
    what: str
    known_jobs: int
    hours: float | None
    steps_hours: float | None
    mean_share: float | None


def step_seconds(jobs: JobTable) -> dict[str, Array]:
    """Return the seconds of each part by job, by name; NaN where a job does not say it."""
    rows = jobs.rows
    columns = ("steps_s", "input_wait_s", "device_copy_s", "communication_s")
    steps, waited, copied, talked = (rows[name].to_numpy(float) for name in columns)
    left = np.maximum(steps - waited - copied - talked, 0.0)
    return {STORAGE: waited, DATA: copied, COMPUTE: left, WEIGHTS: talked}


def step_breakdown(jobs: JobTable) -> list[StepPart]:
    """Return all four parts; [] if no job has steps."""
    steps = jobs.rows["steps_s"].to_numpy(float)
    if not (steps > 0).any():
        return []
    return [_part(name, seconds, steps) for name, seconds in step_seconds(jobs).items()]


def _part(name: str, seconds: Array, steps: Array) -> StepPart:
    known = np.isfinite(seconds) & (steps > 0)
    jobs = int(known.sum())
    if not jobs:
        return StepPart(name, PARTS[name], 0, None, None, None)
    of_known, whole = seconds[known], steps[known]
    hours, steps_hours = float(of_known.sum()) / HOUR_S, float(whole.sum()) / HOUR_S
    return StepPart(name, PARTS[name], jobs, hours, steps_hours, float(np.mean(of_known / whole)))
