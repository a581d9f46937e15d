"""What files take: usually, as those that happened to be slow once will not be, and on a fast tier."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import TINY_S, JobModel
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.staging.file_use import FileUse


def usual_seconds(use: FileUse, rows: Array, passes: Array, seconds: Array) -> Array:
    """Return what some files usually take, in seconds.

    The more a file was read, the more its own time counts, or its folder's. Few reads say little of a file or
    a folder: all files of its size count beside these.

    Args:
        use: What the files were used for.
        rows: The files.
        passes: Passes over each, above 0.
        seconds: What these took.
    """
    if not len(rows):
        return seconds
    size = use.bytes_read[rows] / passes
    fitted_s = passes * fit_time_model(size, seconds / passes, passes).seconds(size)
    own = np.where(fitted_s > 0, seconds / np.maximum(fitted_s, TINY_S), 1.0)
    reads = np.maximum(use.reads[rows], 1).astype(np.float64)
    folder = folders_of(use.paths.take(pa.array(rows))).of_file
    as_much = SETTING["shrinks"]
    in_folder, slow = (np.bincount(folder, weights) for weights in (reads, reads * own))
    of_folder = ((slow + as_much) / (in_folder + as_much))[folder]
    found: Array = fitted_s * (reads * own + as_much * of_folder) / (reads + as_much)
    found *= seconds.sum() / max(float(found.sum()), TINY_S)
    return found


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
        return np.bincount(tasks.file, weight * (stored_s @ job.weight), minlength=count)

    slow_s, fast_s = summed(job.model), summed(fast(job).model)
    whole = fast_s.sum() / max(float(slow_s.sum()), TINY_S)
    left: Array = np.divide(fast_s, slow_s, out=np.full(count, whole), where=slow_s > 0)
    return np.minimum(left, 1.0)
