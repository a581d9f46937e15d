"""What files usually take: those that happened to be slow in a session are not the ones that will be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import folders_of
from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.staging.file_use import FileUse


def usual_seconds(use: FileUse, rows: Array, passes: Array, seconds: Array) -> Array:
    """Return it of some files: the more a file was read, the more its own time counts, or its folder's.

    Few reads say little of a file or a folder: all files of its size count beside these.

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
