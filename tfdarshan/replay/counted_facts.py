"""The facts of a job of whose calls counters alone are known, such as a Darshan log's.

Its calls are made up. Of a long job some batches stand for all, as in `thinned_facts`.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import NO_FILE, FileTable
from tfdarshan.analysis.files.input_files import never_input
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.replay.counted_tasks import CountedFiles, counted_files, counted_tasks
from tfdarshan.replay.job_facts import BatchFacts, JobFacts, StorageFacts, may_hide, processor_facts
from tfdarshan.replay.job_model import READ, TINY_S
from tfdarshan.replay.known_storage import emulated_storage, known_wait_share
from tfdarshan.replay.loop_times import LoopTimes, loop_times
from tfdarshan.replay.pipeline_facts import noted_facts, noted_pipeline
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_facts import is_local
from tfdarshan.replay.thinned_facts import kept_batches
from tfdarshan.thresholds import THRESHOLD


def counted_facts(measured: MeasuredSession) -> JobFacts:
    """Return the facts of a session's job."""
    files, windows, meta = measured.files, measured.windows, measured.session.meta[0]
    is_input = measured.is_input.copy()
    is_input[NO_FILE] = False
    counted = counted_files(files, is_input)
    loop = _counted_loop(windows, counted, float(meta["duration_ns"]) / 1e9)
    count, called_s = len(loop.ask_s), float(counted.call_s.sum())
    epoch = np.arange(count) * min(counted.epochs, count) // count
    every = math.ceil(counted.tasks(count).sum() / SETTING["most_tasks"])
    weight = kept_batches(epoch, int(SETTING["stretch"]), max(every, 1))
    readers = max(1, math.ceil(min(called_s / max(loop.total_s, TINY_S), float(counted.calls.sum()))))
    batches = _counted_batches(
        loop, called_s / readers, weight, epoch, 0.0 if windows is None else windows.handed_s
    )
    tasks, batch = counted_tasks(counted, weight, loop.ask_s)
    device, reads = emulated_storage(meta), max(float(counted.calls[READ].sum()), 1.0)
    return JobFacts(
        batches=_with_output(batches, files),
        tasks=tasks,
        batch=batch,
        pipeline=noted_facts(noted_pipeline(meta, windows), readers, np.zeros(int(epoch.max(initial=0)) + 1)),
        storage=StorageFacts(
            local=is_local(meta, files, is_input),
            depth_s=np.append(np.zeros(readers - 1), called_s / readers),
            serial=None, limit_s=None, files=len(counted.row), device=device,
            wait_share=None if device is None else known_wait_share(device, counted.bytes.sum() / reads),
        ),
        processors=processor_facts(meta),
        files=files,
        counted=True,
        hidden=may_hide(meta, windows),
    )  # fmt: skip


def _counted_loop(windows: StepWindows | None, counted: CountedFiles, whole_s: float) -> LoopTimes:
    """Return when the loop asked for its batches: by its steps, else as many equal ones as are simulated.

    Args:
        windows: The steps; None without any.
        counted: The input.
        whole_s: How long the session lasted.
    """
    if windows is not None:
        nothing = np.zeros(0)
        return loop_times(windows, nothing, nothing, 0.0, epochs=counted.epochs)
    count = int(np.clip(counted.calls[READ].sum(), 1, SETTING["most_tasks"] / SETTING["stretch"]))
    ends_s = np.arange(1, count + 1) * max(whole_s, TINY_S) / count
    ask_s = np.append(0.0, ends_s[:-1])
    return LoopTimes(ask_s, ask_s, ends_s, False)


def _counted_batches(
    loop: LoopTimes, called_s: float, weight: Array, epoch: Array, hand_s: float
) -> BatchFacts:
    """Return what the loop did with each batch, output aside.

    If its steps do not say what they waited for, they waited for the calls on input.

    Args:
        loop: When it asked for its batches.
        called_s: What readers together spent in calls on input.
        weight: How many batches each stands for; 0: it is left out.
        epoch: The epoch of each batch.
        hand_s: What it takes to hand a ready batch over.
    """
    busy_s = loop.stop_s - loop.got_s
    called = 0.0 if loop.known else min(1.0, called_s / max(float(busy_s.sum()), TINY_S))
    kept, nothing = weight > 0, np.zeros(np.count_nonzero(weight))
    return BatchFacts(
        weight=weight[kept], epoch=epoch[kept],
        wait_s=(loop.got_s - loop.ask_s + called * busy_s)[kept],
        compute_s=((1 - called) * busy_s)[kept], pause_s=np.maximum(loop.next_s - loop.stop_s, 0.0)[kept],
        write_s=nothing, sync_s=nothing, beside_s=nothing, write_bytes=nothing, validation_s=nothing,
        known=loop.known, hand_s=hand_s,
    )  # fmt: skip


def _with_output(batches: BatchFacts, files: FileTable) -> BatchFacts:
    """Return the batches with what was written: a large file at a time, all else evenly.

    Args:
        batches: Without it: output was in pauses, as far as there are any, and in computing.
        files: What was done with each file.
    """
    rows = files.rows
    output = (rows["bytes_written"] > 0).to_numpy(bool) & ~never_input(files.paths)
    output[NO_FILE] = False
    moved, lasted_s = (rows[name].to_numpy(float)[output] for name in ("bytes_written", "write_s"))
    saved = moved > THRESHOLD["save"]
    place = np.searchsorted(
        np.cumsum(batches.weight),
        (np.arange(1, np.count_nonzero(saved) + 1) / (np.count_nonzero(saved) + 1)) * batches.weight.sum(),
    )

    def each(values: Array) -> Array:
        """Of each batch, so that all of them together write as much."""
        found = np.bincount(place, values[saved], minlength=len(batches.weight)) / batches.weight
        return found + float(values[~saved].sum()) / float(batches.weight.sum())

    write_s = np.minimum(each(lasted_s), batches.pause_s + batches.compute_s)
    paused_s = np.minimum(write_s, batches.pause_s)
    return dataclasses.replace(
        batches, write_s=write_s, write_bytes=each(moved),
        pause_s=batches.pause_s - paused_s, compute_s=batches.compute_s - (write_s - paused_s),
    )  # fmt: skip
