"""What storage is asked for on behalf of reads: requests of the kernel's, or of a reader with a buffer.

Reads that follow each other share requests of the size of the read-ahead window, whichever tasks they are of.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import READ, TINY_S
from tfdarshan.replay.prior_model import limit_of_calls
from tfdarshan.replay.priors import SETTING

WINDOW, REQUEST = SETTING["window"], SETTING["request"]


def requests_of(job: ModelledJob, request_bytes: float) -> Array:
    """Return the requests of a reader that asks for so much at a time, shape (tasks,).

    A task that goes on where the last one ended goes on in its request: one serves many small tasks. Another
    one needs a request for its place, at least.
    """
    found: Array = np.maximum(np.minimum(job.model.jumps, 1.0), job.facts.tasks.size / request_bytes)
    return found


def in_requests(job: ModelledJob, request_bytes: float, asks: Array) -> ModelledJob:
    """Return the job whose reads wait for such requests, if these are fewer than those recorded.

    Which task of a stream waited for the request that others share is chance: each pass over a file has as
    many as its tasks together.

    Args:
        job: The job.
        request_bytes: How much it asks for at a time.
        asks: In which samples it asks so.
    """
    model, tasks = job.model, job.facts.tasks
    _, stream = np.unique(np.stack([tasks.file, tasks.epoch]), axis=1, return_inverse=True)
    stream = stream.ravel()

    def summed(values: Array) -> Array:
        found = np.zeros((int(stream.max(initial=0)) + 1, values.shape[1]))
        np.add.at(found, stream, values)
        return found[stream]

    made = summed(model.requests)
    left = np.minimum(1.0, summed(requests_of(job, request_bytes)[:, None]) / np.maximum(made, TINY_S))
    left = np.where(asks & (made > 0), left, 1.0)
    wait_s = model.wait_s + np.zeros(model.samples)
    wait_s[READ] *= left
    # A limit of calls counts them.
    limit_s = model.limit_s * np.where(limit_of_calls(job.facts, job.drawn), left, 1.0)
    return job.but(wait_s=wait_s, limit_s=limit_s, requests=model.requests * left)
