"""What a fix gives: the recorded run over the one with the fix, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import Edit, edited
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING


@dataclass(frozen=True)
class Promise:
    """A speedup.

    Attributes:
        low: The least, as a quantile over samples and over what runs differ by.
        expected: As likely less as more: the median.
        high: The most.
        firm: Whether the network reproduces the recorded run; else the range is of a model that does not.
    """

    low: float
    expected: float
    high: float
    firm: bool


def promise(job: ModelledJob, *edits: Edit) -> Promise:
    """Return what some fixes together give a job."""
    return promise_of(job, speedups(job, *edits))


def speedups(job: ModelledJob, *edits: Edit) -> Array:
    """Return the speedup that each sample has, shape (samples,)."""
    before_s, after_s = job.run.total_s, edited(job, *edits).run.total_s
    return before_s / np.maximum(after_s, TINY_S)


def promise_of_many(job: ModelledJob, *edits: Edit) -> Promise:
    """Return the same of the mean of many runs, in which what single runs differ by is gone."""
    return promise_of(job, speedups(job, *edits), runs_differ=0)


def promise_of(job: ModelledJob, gain: Array, runs_differ: float = SETTING["runs_differ"]) -> Promise:
    """Return the range of speedups of a job's samples.

    Args:
        job: The job.
        gain: The speedup that each sample has.
        runs_differ: What runs differ by: the standard deviation of a run's time, of its logarithm.
    """
    log_gain = np.log(gain)
    # No fix makes the loop compute less: what a model may be wrong by ends there.
    most = np.maximum(np.log(job.run.total_s / np.maximum(job.model.least_s, TINY_S)), log_gain)
    points = (np.arange(SETTING["points"]) + 1 / 2) / SETTING["points"]
    places = np.array([NormalDist().inv_cdf(point) for point in points.tolist()])
    wrong = log_gain[:, None] + differ_by(log_gain, runs_differ)[:, None] * places
    found = np.minimum(wrong, most[:, None])
    ends = SETTING["quantile"], 1 / 2, 1 - SETTING["quantile"]
    low, expected, high = np.exp(_quantiles(found, job.weight, ends)).tolist()
    return Promise(low, expected, high, job.reproduces)


def differ_by(log_gain: Array, runs_differ: float = SETTING["runs_differ"]) -> Array:
    """Return what gains differ by, the standard deviation of their logarithms.

    Two runs differ by chance, and a model is wrong in proportion to what it changes: the share of the time
    that goes, or that is added.
    """
    changed = -np.expm1(-np.abs(log_gain))
    return np.hypot(np.sqrt(2) * runs_differ, SETTING["fixes_differ"] * changed)


def _quantiles(values: Array, weight: Array, ends: Sequence[float]) -> Array:
    """Return quantiles of values of each sample, shape (samples, values), by how much each sample counts."""
    order = np.argsort(values, axis=None)
    reached = np.cumsum(np.repeat(weight, values.shape[1])[order])
    found: Array = values.ravel()[order][np.searchsorted(reached, np.array(ends) * reached[-1])]
    return found


def epoch_seconds(job: ModelledJob) -> Array:
    """Return it, mean over samples by how well each reproduces the run, shape (epochs,)."""
    batch_s = job.run.batch_s @ job.weight * job.run.weight
    return np.bincount(job.model.epoch, batch_s)


def saved_seconds(job: ModelledJob, *edits: Edit) -> Array:
    """Return what edits save of each epoch, at least 0 s, shape (epochs,)."""
    return np.maximum(epoch_seconds(job) - epoch_seconds(edited(job, *edits)), 0.0)
