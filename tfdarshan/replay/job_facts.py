"""What a session says of its job, as plain arrays: what a model of it is made of.

Nothing here is drawn or assumed: what a session leaves open stays None, or a range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.read_tasks import ReadTasks
from tfdarshan.sessions.machine_facts import machine_of
from tfdarshan.storage_model import StorageModel


@dataclass(frozen=True, kw_only=True)
class BatchFacts:
    """The training loop's batches; seconds, one entry per batch.

    Attributes:
        weight: How many recorded batches each stands for.
        epoch: From 0.
        wait_s: What the loop waited for it.
        compute_s: What it computed then.
        write_s: What it stood still then for output.
        sync_s: What of that were syncs.
        beside_s: What other threads wrote meanwhile, and nobody waited for.
        write_bytes: What was written.
        validation_s: What it stood still for reading files that only pauses read.
        pause_s: What it stood still for otherwise before it asked for the next batch.
        known: Whether steps said what they waited for; else bursts of reads were taken for batches.
        hand_s: What of each wait it takes to hand a ready batch over, a number.
    """

    weight: Array
    epoch: Array
    wait_s: Array
    compute_s: Array
    write_s: Array
    sync_s: Array
    beside_s: Array
    write_bytes: Array
    validation_s: Array
    pause_s: Array
    known: bool
    hand_s: float

    @property
    def stall_s(self) -> Array:
        """What the loop stood still for otherwise than for writing."""
        return self.validation_s + self.pause_s

    @property
    def recorded_s(self) -> Array:
        """What each batch took, from its request to the next one's."""
        return self.wait_s + self.compute_s + self.write_s + self.stall_s

    @property
    def total_s(self) -> float:
        """What all recorded batches took."""
        return float(self.weight @ self.recorded_s)


@dataclass(frozen=True, kw_only=True)
class PipelineFacts:
    """How batches are prepared.

    Attributes:
        readers: Calls that ran at a time, as far as the recorded run shows.
        declared_readers: As the framework's pipeline says; AUTOTUNE is -1, None is one or unknown.
        prefetch: Batches that it is declared to be ahead; AUTOTUNE is -1, 0 without any, None if unknown.
        shuffle_tasks: Tasks that fill a shuffle buffer behind the readers; -1 is all of an epoch.
        parallel_behind: Calls of what decodes behind the readers; AUTOTUNE is -1, None is one, or nothing.
        framework: Whether a framework's pipeline was noted, not a loop of Python's.
        python: Whether Python code reads or decodes.
        processes: Processes that were started as readers; None if readers are threads, which share a lock.
        whole_batches: Whether one reader prepares all tasks of a batch.
        kept: Whether processes live on from epoch to epoch.
        records: Whether readers unpack records, and what follows decodes these.
        compressed: Whether records are compressed.
        loop_reads: Whether the loop's own thread makes nearly all calls.
        beside: The share of the time in calls that is outside of the loop's waits.
        overlap: How busy readers are right before waits, in times of how busy they are in them, at most 1.
        goes_on: Whether readers begin tasks of the next batch before all of a batch have ended.
        in_order: Whether samples stay in the order of their reads, whichever of these ends first.
        order_kept: Whether they still do if a fix lets more calls run at a time.
        late_s: How long after its first request each epoch's first call came; NaN: before it.
        prepared_s: How long one reader that prepares whole batches takes for one, mean; None if unknown.
    """

    readers: float
    declared_readers: int | None
    prefetch: int | None
    shuffle_tasks: int = 0
    parallel_behind: int | None
    framework: bool
    python: bool
    processes: int | None
    whole_batches: bool = False
    kept: bool = False
    records: bool
    compressed: bool
    loop_reads: bool = False
    beside: float = 0.0
    overlap: float = 0.0
    goes_on: bool = False
    in_order: bool
    order_kept: bool
    late_s: Array
    prepared_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class StorageFacts:
    """What is known of the storage under the input.

    Attributes:
        local: Whether the input is on a local file system; its kind is known.
        depth_s: For how long one call ran, two calls ran at a time, and so on.
        serial: What of a call is served one at a time, as measured, low and high; None if nothing shows it.
        limit_s: What the interval of a rate limit is; None if nothing shows a limit.
        limit_of_calls: Whether it counts calls, not bytes; None if that is not known.
        paced: Whether reads wait for a rate limit that refills while readers work; None if that is not known.
        wait_share: The share of a read that is not by its bytes; None if all reads are of one size.
        files: How many files were read.
        unlimited: Whether a probe's reads, of storage that had rested, took as long.
        reads_ahead: Whether reads that follow each other found their data there; None if that is not seen.
        device: What calls were slowed down to; None if they were not, or nothing says it.
        writes_here: The share of the time in output calls that went to the input's own mount.
    """

    local: bool
    depth_s: Array
    serial: tuple[float, float, float] | None
    limit_s: float | None
    wait_share: float | None
    files: int
    writes_here: float = 0.0
    limit_of_calls: bool | None = None
    paced: bool | None = None
    device: StorageModel | None = None
    reads_ahead: bool | None = None
    unlimited: bool = False

    @property
    def place(self) -> str:
        """Whose priors are the storage's."""
        return "local" if self.local else "network"

    @property
    def depth(self) -> float:
        """How many calls ran at a time while any did, weighted by their time."""
        depth = np.arange(1, len(self.depth_s) + 1)
        return float(self.depth_s @ depth**2) / max(float(self.depth_s @ depth), TINY_S)


@dataclass(frozen=True, kw_only=True)
class ProcessorFacts:
    """What the machine gives the job; None if unknown.

    Attributes:
        cpus: Processors that it may use.
        others: Those that other programs took, mean.
        cpu_s: Processor time that the job took.
        span_s: How long it took that.
    """

    cpus: float | None
    others: float | None
    cpu_s: float | None
    span_s: float


@dataclass(frozen=True, kw_only=True)
class JobFacts:
    """One job.

    Attributes:
        batches: Of the loop.
        tasks: Of the readers, ordered by the batch that needs them.
        batch: The batch that needs each task, ascending.
        pipeline: How batches are prepared.
        storage: What serves the tasks.
        processors: What the machine gives.
        files: The session's files, whose rows `tasks.file` names.
        validating: Which of them only pauses between steps read, bool; None if that is not known.
        validation_readers: Calls on these that ran at a time while any did, at least 1.
        counted: Whether its calls are made up from counters: of no call it is known when it ran.
        hidden: Whether an accelerator may have computed while the loop waited: nobody looked at its clock.
    """

    batches: BatchFacts
    tasks: ReadTasks
    batch: Array
    pipeline: PipelineFacts
    storage: StorageFacts
    processors: ProcessorFacts
    files: FileTable
    validating: Array | None = None
    validation_readers: float = 1.0
    counted: bool = False
    hidden: bool = False

    @property
    def waits_known(self) -> bool:
        """Whether it is known what waits for the reads: steps say so, or the loop's own thread makes them."""
        return (self.batches.known or self.pipeline.loop_reads) and not self.hidden


def may_hide(meta: dict[str, Any], windows: StepWindows | None) -> bool:
    """Say whether an accelerator may have computed while the loop waited.

    It works on what is queued meanwhile, so that only its own clock tells how long it waited.

    Args:
        meta: What the session says of itself.
        windows: Its steps; None without any.
    """
    return bool(machine_of(meta).accelerators) and not (windows is not None and windows.on_device)


def processor_facts(meta: dict[str, Any]) -> ProcessorFacts:
    """Return what the machine gives the job, by what its session says of itself."""
    machine = machine_of(meta)
    return ProcessorFacts(
        cpus=machine.cpus, others=machine.others_cpus, cpu_s=machine.cpu_s,
        span_s=machine.span_s,
    )  # fmt: skip
