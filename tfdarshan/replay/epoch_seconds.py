"""How long each epoch of a job takes."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import Edit, edited


def epoch_seconds(job: ModelledJob) -> Array:
    """Return it, mean over samples by how well each reproduces the run, shape (epochs,)."""
    batch_s = job.run.batch_s @ job.weight * job.run.weight
    found: Array = np.bincount(job.model.epoch, batch_s)
    return found


def saved_seconds(job: ModelledJob, *edits: Edit) -> Array:
    """Return what edits save of each epoch, at least 0 s, shape (epochs,)."""
    found: Array = np.maximum(epoch_seconds(job) - epoch_seconds(edited(job, *edits)), 0.0)
    return found
