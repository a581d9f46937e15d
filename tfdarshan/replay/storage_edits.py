"""Fixes of what a job asks storage for, and of the storage, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import asked_calls
from tfdarshan.replay.job_model import CALLS, OPEN, PROBE, READ, STAT, TINY_S
from tfdarshan.replay.prior_model import moves_arm
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_requests import REQUEST, WINDOW, in_requests, requests_of


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
        copied = np.ones((len(tasks), 1), bool) if self.files is None else self.files[tasks.file][:, None]
        call_s = job.drawn["fast_call_s"] if self.call_s is None else self.call_s
        bytes_per_s = job.drawn["fast_bytes_per_s"] if self.bytes_per_s is None else self.bytes_per_s
        asked = np.arange(len(model.calls))[:, None, None] == STAT
        waits_s = np.where(asked & (not self.mirrored), model.wait_s, model.calls[:, :, None] * call_s)
        transfers_s = tasks.size[:, None] / bytes_per_s
        # What memory serves is no slower than the copy.
        staged = copied & (waits_s.sum(0) + transfers_s < model.storage_s + model.limit_s)
        made = job.but(
            wait_s=np.where(staged, waits_s, model.wait_s),
            transfer_s=np.where(staged, transfers_s, model.transfer_s),
            seek_s=np.where(staged, 0.0, model.seek_s),
            limit_s=np.where(staged, 0.0, model.limit_s),
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


@dataclass(frozen=True)
class SequentialReads:
    """Reads in the order in which the data lies: no call moves to another place."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them; where the kernel reads ahead, it asks storage for a window at a time."""
        job = _in_order(job)
        return in_requests(job, WINDOW, job.drawn["reads_ahead"])


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


@dataclass(frozen=True)
class LargeReads:
    """Reads as large as what storage can be asked for, in place of small ones.

    Attributes:
        request_bytes: What is asked for at a time.
    """

    request_bytes: float = REQUEST

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them: what is read is asked for in such requests, and nothing else changes."""
        model, made = job.model, job.model.calls[READ]
        calls = model.calls.copy()
        calls[READ] = np.minimum(made, requests_of(job, self.request_bytes))
        job = in_requests(job, self.request_bytes, np.full(model.samples, True))
        return _with_calls(job, calls)


@dataclass(frozen=True)
class Shards:
    """Samples as records of a few large files, read in order by one reader of a framework's, or as before.

    Attributes:
        archives: The files are tar files, which Python's `tarfile` reads.
    """

    archives: bool = False

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with them."""
        opened = job.model.calls[OPEN][:, None] * self.archives
        for kind in (OPEN, STAT, PROBE):
            job = _without(job, kind)
        job = _without_slow_files(_in_order(job))
        if not job.facts.pipeline.framework or job.facts.pipeline.python:
            job = LargeReads()(job)
            return job.but(work_s=job.model.work_s + opened * job.drawn["member_s"])
        job = LargeReads(WINDOW)(job)
        # What read and decoded files at a time now decodes what one reader reads.
        model = job.model
        return job.but(
            readers=np.ones(model.samples, int), work_s=np.zeros_like(model.work_s),
            behind_s=model.behind_s + model.work_s,
            behind_serial=np.maximum(model.work_serial, 1 / model.readers),
        )  # fmt: skip


def _without(job: ModelledJob, kind: int) -> ModelledJob:
    """Return the job without calls of a kind."""
    model = job.model
    wait_s, calls = model.wait_s.copy(), model.calls.copy()
    wait_s[kind], calls[kind] = 0.0, 0.0
    return _with_calls(job.but(wait_s=wait_s), calls)


def _with_calls(job: ModelledJob, calls: Array) -> ModelledJob:
    """Return the job with fewer calls, and without the time that Python takes for those that are spared."""
    before, after = (asked_calls(job.facts.tasks, made) for made in (job.model.calls, calls))
    spared_s = (before - after)[:, None] * job.drawn["python_call_s"] * job.facts.pipeline.python
    return job.but(calls=calls, work_s=np.maximum(job.model.work_s - spared_s, 0.0))


def _without_slow_files(job: ModelledJob) -> ModelledJob:
    """Return the job without what a few files take longer than all others: their data lies elsewhere now."""
    names = ("wait_s", "transfer_s", "limit_s")
    most = {name: np.quantile(getattr(job.model, name), SETTING["few_files"], axis=-2) for name in names}
    return job.but(**{name: np.minimum(getattr(job.model, name), most[name][..., None, :]) for name in names})


def _in_order(job: ModelledJob) -> ModelledJob:
    """Return the job whose reads follow each other: none moves an arm, or begins a request for its place."""
    return job.but(seek_s=np.zeros_like(job.model.seek_s), jumps=np.zeros_like(job.model.jumps))
