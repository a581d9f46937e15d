"""What of a file's time a fast tier leaves: with what calls on it took, what a copy of the file is worth."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import TINY_S, JobModel
from tfdarshan.replay.storage_edits import Staged


def left_on_tier(job: ModelledJob, fast: Staged) -> Array:
    """Return the share of each file's time at storage that is left on a fast tier, at most 1.

    Time at storage is waits, transfers, seeks and limits, the mean over samples by how well they reproduce
    the run. Of a file that no simulated task reads, all files together tell.

    Args:
        job: The job.
        fast: All files on the fast tier.

    Returns:
        One entry per row of the job's file table.
    """
    tasks, count = job.facts.tasks, len(job.facts.files)
    weight = job.facts.batches.weight[job.facts.batch]

    def summed(model: JobModel) -> Array:
        stored_s = np.broadcast_to(model.storage_s + model.limit_s, (model.tasks, model.samples))
        found: Array = np.bincount(tasks.file, weight * (stored_s @ job.weight), minlength=count)
        return found

    slow_s, fast_s = summed(job.model), summed(fast(job).model)
    whole = fast_s.sum() / max(float(slow_s.sum()), TINY_S)
    left: Array = np.divide(fast_s, slow_s, out=np.full(count, whole), where=slow_s > 0)
    return np.minimum(left, 1.0)
