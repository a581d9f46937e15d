"""What storage is asked for on behalf of reads: requests of the kernel's, or of a reader with a buffer.

Reads that follow each other share requests of the size of the read-ahead window, whichever tasks they are of.
Where memory keeps what came in, those at a place that one of them brought in ask for nothing.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.job_model import READ, TINY_S
from tfdarshan.replay.prior_model import limit_of_calls
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import ReadTasks

WINDOW, REQUEST = SETTING["window"], SETTING["request"]


def requests_of(job: ModelledJob, request_bytes: float) -> Array:
    """Return the requests of a reader that asks for so much at a time, shape (tasks,).

    A task that goes on where the last one ended goes on in its request: one serves many small tasks. Another
    one needs a request for its place, at least.
    """
    return np.maximum(np.minimum(job.model.jumps, 1.0), job.facts.tasks.size / request_bytes)


def tasks_of(job: ModelledJob, files: Array | None) -> Array:
    """Return which tasks read some files, bool; these are a mask over rows of the file table, None is all."""
    tasks = job.facts.tasks
    return np.ones(len(tasks), bool) if files is None else files[tasks.file]


def in_requests(job: ModelledJob, request_bytes: float, asks: Array) -> ModelledJob:
    """Return the job whose reads wait for such requests, if these are fewer than those recorded.

    Which task of a stream waited for the request that others share is chance: each pass over a file has as
    many as its tasks together.

    Args:
        job: The job.
        request_bytes: How much it asks for at a time.
        asks: In which samples it asks so, and of which tasks.
    """
    model = job.model
    made = _in_streams(job.facts.tasks, model.requests)
    wanted = _in_streams(job.facts.tasks, _stored_requests(job, request_bytes)[:, None])
    left = np.where(asks & (made > 0), np.minimum(1.0, wanted / np.maximum(made, TINY_S)), 1.0)
    wait_s = model.wait_s + np.zeros(model.samples)
    wait_s[READ] *= left
    # A limit of calls counts them.
    limit_s = model.limit_s * np.where(limit_of_calls(job.facts, job.drawn), left, 1.0)
    return job.but(wait_s=wait_s, limit_s=limit_s, requests=model.requests * left)


def _in_streams(tasks: ReadTasks, values: Array) -> Array:
    """Return for each task the sum over all of its pass over its file; values of shape (tasks, any)."""
    _, stream = np.unique(np.stack([tasks.file, tasks.epoch]), axis=1, return_inverse=True)
    found = np.zeros((int(stream.max(initial=0)) + 1, values.shape[1]))
    np.add.at(found, stream.ravel(), values)
    return found[stream.ravel()]


def _stored_requests(job: ModelledJob, request_bytes: float) -> Array:
    """Return which of such requests storage serves, shape (tasks,): memory serves a place that it keeps.

    Places are anywhere in their file: n of them are in b(1 - (1 - 1/b)^n) of its b requests.
    """
    facts, tasks, kept = job.facts, job.facts.tasks, memory_keeps(job.facts)
    new = np.divide(tasks.places, tasks.jumps, out=np.ones(len(tasks)), where=tasks.jumps > 0)
    fresh = 1 - kept * (1 - new)
    jumps = fresh * np.minimum(job.model.jumps, 1.0)
    many = _in_streams(tasks, (facts.batches.weight[facts.batch] * jumps)[:, None])[:, 0]
    blocks = np.maximum(facts.files.rows["size_bytes"].to_numpy(float)[tasks.file] / request_bytes, 1.0)
    different = blocks * (1 - (1 - 1 / blocks) ** many)
    shared = 1 - kept + kept * np.divide(different, many, out=np.ones(len(tasks)), where=many > 0)
    return np.maximum(jumps * shared, fresh * tasks.size / request_bytes)


def memory_keeps(facts: JobFacts) -> float:
    """Return how much less often reads of a place wait that was read before than others: memory served them.

    It is 0 where the session has too few of them to show it.
    """
    tasks, weight = facts.tasks, facts.batches.weight[facts.batch]
    waited = np.minimum(tasks.requests, tasks.jumps)
    first, again = float(weight @ tasks.places), float(weight @ (tasks.jumps - tasks.places))
    first_waited = float(weight @ np.minimum(waited, tasks.places))
    again_waited = float(weight @ np.maximum(waited - tasks.places, 0.0))
    if again < SETTING["fewest"] or not first_waited:
        return 0.0
    return max(1 - again_waited / again * first / first_waited, 0.0)
