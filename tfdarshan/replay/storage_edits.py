"""Fixes of what a job asks storage for, and of the storage, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import asked_calls
from tfdarshan.replay.job_model import CALLS, OPEN, PROBE, READ, STAT, TINY_S, JobModel
from tfdarshan.replay.prior_model import moves_arm
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_requests import REQUEST, WINDOW, in_requests, requests_of, tasks_of


@dataclass(frozen=True)
class OtherStorage:
    """Storage of another latency and bandwidth.

    Attributes:
        latency: Its waits, as a share of those recorded.
        bandwidth: Its bandwidth, and limits, in times of that recorded; of what is written, too.
    """

    latency: float = 1.0
    bandwidth: float = 1.0

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job on it."""
        model = job.model
        return job.but(
            wait_s=model.wait_s * self.latency, seek_s=model.seek_s * self.latency,
            transfer_s=model.transfer_s / self.bandwidth, limit_s=model.limit_s / self.bandwidth,
            write_s=model.write_s / self.bandwidth, beside_s=model.beside_s / self.bandwidth,
            save_s=model.save_s / self.bandwidth,
        )  # fmt: skip


@dataclass(frozen=True)
class OtherLink:
    """Another link between the job and storage that is not local.

    Attributes:
        now: The bytes a second that the link carries today.
        then: Those of the other one.
    """

    now: float
    then: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job behind it: of its transfers, what their bytes take on the link gets shorter."""
        if job.facts.storage.local:
            return job
        model, spared_s = job.model, job.facts.tasks.size[:, None] * (1 / self.now - 1 / self.then)
        on_link_s = np.minimum(spared_s, model.transfer_s * (1 - self.now / self.then))
        return job.but(transfer_s=model.transfer_s - on_link_s)


@dataclass(frozen=True, eq=False)
class Staged:
    """Files copied to a fast tier before the run.

    Attributes:
        files: Which, as a mask over rows of the session's file table; None is all.
        call_s: What a call takes there, as measured; None: a local disk, or memory.
        bytes_per_s: The same of bytes.
        mirrored: Whether questions by name are asked of the copies, too; else they go to the originals.
    """

    files: Array | None = None
    call_s: float | None = None
    bytes_per_s: float | None = None
    mirrored: bool = True

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job that reads the copies."""
        model, tasks = job.model, job.facts.tasks
        copied = tasks_of(job, self.files)[:, None]
        call_s = job.drawn["fast_call_s"] if self.call_s is None else self.call_s
        bytes_per_s = job.drawn["fast_bytes_per_s"] if self.bytes_per_s is None else self.bytes_per_s
        asked = np.arange(len(model.calls))[:, None, None] == STAT
        memory_s = job.drawn["memory_call_s"]
        waits_s = np.where(asked & (not self.mirrored), model.wait_s, model.calls[:, :, None] * call_s)
        # The kernel reads ahead there, and memory serves what it has read.
        requests = np.minimum(model.calls[READ], np.maximum(model.jumps, tasks.size / WINDOW))
        waits_s[READ] = model.calls[READ][:, None] * memory_s + requests[:, None] * call_s
        transfers_s = tasks.size[:, None] / bytes_per_s
        # What memory serves is no slower than the copy.
        staged = copied & (waits_s.sum(0) + transfers_s < model.storage_s + model.limit_s)
        made = job.but(
            wait_s=np.where(staged, waits_s, model.wait_s),
            transfer_s=np.where(staged, transfers_s, model.transfer_s),
            seek_s=np.where(staged, 0.0, model.seek_s),
            limit_s=np.where(staged, 0.0, model.limit_s),
            read_work_s=_read_work_s(model, staged, memory_s),
        )
        slow_s, fast_s = (((one.storage_s + one.limit_s) * copied).sum(0) for one in (model, made.model))
        spared = self._of_validation(job) * np.maximum(1 - fast_s / np.maximum(slow_s, TINY_S), 0.0)
        stall_s = np.maximum(model.stall_s - job.facts.batches.validation_s[:, None] * spared, 0.0)
        if not copied.all():
            return made.but(stall_s=stall_s)
        # What is written stays where it was: nobody reads there now, or moves an arm between writes.
        drawn = job.drawn
        moved = np.where(moves_arm(drawn, model.wait_serial), drawn["sequential_left"], 1.0)
        nothing = np.zeros_like(model.write_s)
        return made.but(stall_s=stall_s + model.write_s * moved, write_s=nothing, beside_s=nothing)

    def _of_validation(self, job: ModelledJob) -> float:
        """Return the share of the files read in pauses alone that are staged: these take as much less."""
        validating = job.facts.validating
        if self.files is None or validating is None or not validating.any():
            return float(self.files is None)
        return float(self.files[validating].mean())


@dataclass(frozen=True)
class Without:
    """No calls of a kind.

    Attributes:
        kind: Of `job_model.CALLS`.
    """

    kind: Literal["stat", "probe"]

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job without them, and without the time that Python takes for them."""
        return _without(job, CALLS.index(self.kind))


@dataclass(frozen=True)
class KeptOpen:
    """Files that stay open in each process that opened them."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job that opens each file once in each process."""
        model, first = job.model, job.facts.tasks.first_opens
        calls, wait_s = model.calls.copy(), model.wait_s.copy()
        calls[OPEN] = np.minimum(calls[OPEN], first)
        opens = model.calls[OPEN]
        wait_s[OPEN] *= np.where(opens > 0, calls[OPEN] / np.maximum(opens, TINY_S), 1.0)[:, None]
        return _with_calls(job.but(wait_s=wait_s), calls)


@dataclass(frozen=True, eq=False)
class SequentialReads:
    """Reads in the order in which the data lies: no call moves to another place.

    Attributes:
        files: Of which files, as a mask over rows of the session's file table; None is all.
    """

    files: Array | None = None

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; where the kernel reads ahead, it asks storage for a window at a time."""
        mine = tasks_of(job, self.files)
        return in_requests(_in_order(job, mine), WINDOW, job.drawn["reads_ahead"] & mine[:, None])


@dataclass(frozen=True)
class Uncrowded:
    """Fewer readers, of storage that the session shows to give more to fewer.

    Attributes:
        readers: How many.
        times: How many times as much storage gave in all while so many calls were under way.
    """

    readers: int
    times: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: their calls take as long as they did then, side by side."""
        model, depth = job.model, max(job.facts.storage.depth, 1.0)
        scale = min(1.0, self.readers / (depth * self.times))
        recorded_s = job.facts.tasks.call_s[:, :, None] * scale
        read_s = recorded_s[READ] + np.zeros(model.samples)
        reads_s = np.maximum(model.wait_s[READ] + model.transfer_s + model.seek_s, TINY_S)
        part = read_s / reads_s
        wait_s = recorded_s + np.zeros_like(model.wait_s)
        wait_s[READ] = model.wait_s[READ] * part
        least = np.full(model.samples, 1 / self.readers)
        return job.but(
            wait_s=wait_s, transfer_s=model.transfer_s * part, seek_s=model.seek_s * part,
            wait_serial=least, transfer_serial=least,
            readers=np.full(model.samples, self.readers),
            calls_ahead=np.minimum(model.calls_ahead, self.readers),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LargeReads:
    """Reads as large as what storage can be asked for, in place of small ones.

    Attributes:
        request_bytes: What is asked for at a time.
        files: Of which files, as a mask over rows of the session's file table; None is all.
    """

    request_bytes: float = REQUEST
    files: Array | None = None

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: what is read is asked for in such requests, and nothing else changes."""
        mine, calls = tasks_of(job, self.files), job.model.calls.copy()
        fewer = np.minimum(calls[READ], requests_of(job, self.request_bytes))
        calls[READ] = np.where(mine, fewer, calls[READ])
        return _with_calls(in_requests(job, self.request_bytes, mine[:, None]), calls)


@dataclass(frozen=True, eq=False)
class Shards:
    """Samples as records of a few large files, read in order by one reader of a framework's, or as before.

    Attributes:
        archives: The files are tar files, which Python's `tarfile` reads.
        files: Which files they replace, as a mask over rows of the session's file table; None is all.
    """

    archives: bool = False
    files: Array | None = None

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        mine = tasks_of(job, self.files)
        if not mine.any():
            return job
        opened = job.model.calls[OPEN][:, None] * (mine[:, None] & self.archives)
        for kind in (OPEN, STAT, PROBE):
            job = _without(job, kind, mine)
        job = _without_slow_files(_in_order(job, mine), mine)
        if not job.facts.pipeline.framework or job.facts.pipeline.python:
            job = LargeReads(files=self.files)(job)
            return job.but(work_s=job.model.work_s + opened * job.drawn["member_s"])
        job = LargeReads(WINDOW, self.files)(job)
        # What read and decoded files at a time now decodes what one reader reads.
        model = job.model
        return job.but(
            readers=np.ones(model.samples, int), work_s=np.zeros_like(model.work_s),
            behind_s=model.behind_s + model.work_s,
            behind_serial=np.maximum(model.work_serial, 1 / model.readers),
        )  # fmt: skip


def _read_work_s(model: JobModel, staged: Array, least_s: Array) -> Array:
    """Return what a read takes of a processor if those of some tasks are local, shape (samples,).

    Args:
        model: The network.
        staged: The tasks, bool of shape (tasks, samples).
        least_s: What a local read takes that memory serves, shape (samples,).
    """
    reads = model.weight[model.batch] * model.calls[READ]
    part = reads @ staged / max(float(reads.sum()), TINY_S)
    return model.read_work_s - part * np.maximum(model.read_work_s - least_s, 0.0)


def _without(job: ModelledJob, kind: int, chosen: Array | None = None) -> ModelledJob:
    """Return the job without calls of a kind, in some tasks or all."""
    model = job.model
    wait_s, calls = model.wait_s.copy(), model.calls.copy()
    mine = slice(None) if chosen is None else chosen
    wait_s[kind, mine], calls[kind, mine] = 0.0, 0.0
    return _with_calls(job.but(wait_s=wait_s), calls)


def _with_calls(job: ModelledJob, calls: Array) -> ModelledJob:
    """Return the job with fewer calls, and without the time that Python takes for those that are spared."""
    before, after = (asked_calls(job.facts.tasks, made) for made in (job.model.calls, calls))
    spared_s = (before - after)[:, None] * job.drawn["python_call_s"] * job.facts.pipeline.python
    return job.but(calls=calls, work_s=np.maximum(job.model.work_s - spared_s, 0.0))


def _without_slow_files(job: ModelledJob, mine: Array) -> ModelledJob:
    """Return the job without what a few of some files take longer than the others: their data lies elsewhere.

    Args:
        job: The job.
        mine: The tasks that read these files, bool.
    """
    changes = {}
    for name in ("wait_s", "transfer_s", "limit_s"):
        taken_s = getattr(job.model, name)
        most_s = np.quantile(taken_s[..., mine, :], SETTING["few_files"], axis=-2)
        changes[name] = np.where(mine[:, None], np.minimum(taken_s, most_s[..., None, :]), taken_s)
    return job.but(**changes)


def _in_order(job: ModelledJob, mine: Array) -> ModelledJob:
    """Return the job in which some tasks move no arm, and begin no request for their place."""
    model = job.model
    return job.but(seek_s=np.where(mine[:, None], 0.0, model.seek_s), jumps=np.where(mine, 0.0, model.jumps))
