"""How batches are prepared: by the framework's own words, and by the calls that ran."""

from __future__ import annotations

import dataclasses

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.frameworks.adapter import DeclaredInput
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import AUTOTUNE, pipelines_of, training_pipeline
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline as NotedPipeline
from tfdarshan.replay.job_facts import PipelineFacts
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.loop_times import LoopTimes
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import InputCalls
from tfdarshan.replay.recorded_job import RecordedJob
from tfdarshan.replay.task_batches import TaskBatches

RECORDS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "interleave")


def noted_pipeline(meta: dict[str, object], windows: StepWindows | None) -> NotedPipeline | None:
    """Return the pipeline that steps take batches from; None if none was noted that reads.

    Args:
        meta: What the session's owner says.
        windows: The steps, None if there are none.
    """
    return training_pipeline(pipelines_of(meta) or (), () if windows is None else windows.asked)


def shuffled_tasks(noted: NotedPipeline, tasks: int, batches: int) -> int:
    """Return how many tasks fill the buffer of a shuffle behind the reader; -1 is all of an epoch.

    Args:
        noted: The pipeline.
        tasks: How many tasks there are.
        batches: For how many batches.
    """
    shuffle, reader = noted.has("shuffle"), noted.reader
    if shuffle is None or reader is None or shuffle not in noted.after(reader):
        return 0
    if shuffle.size is None or shuffle.size < 0:
        return AUTOTUNE
    batch = noted.has("batch")
    samples = batches * ((batch.size if batch else None) or 1)
    return int(np.ceil(shuffle.size * tasks / max(samples, 1)))


def pipeline_facts(
    recorded: RecordedJob,
    noted: NotedPipeline | None,
    calls: InputCalls,
    loop: LoopTimes,
    placed: TaskBatches,
    shuffled: int,
    by_loop: Array,
) -> PipelineFacts:
    """Return how they are prepared.

    Args:
        recorded: The session's tables.
        noted: The framework's pipeline, None if none was noted.
        calls: On input.
        loop: When batches were asked for.
        placed: The tasks that the calls are, by batch.
        shuffled: Tasks that fill a shuffle buffer.
        by_loop: Which calls the loop's own thread made, bool.
    """
    lasted_s = np.maximum(calls.end_s - calls.start_s, TINY_S)
    outside = _outside(loop, calls.start_s, by_loop)
    return dataclasses.replace(
        noted_facts(noted, max(1.0, recorded.pipeline.readers.readers), placed.late_s),
        shuffle_tasks=shuffled,
        loop_reads=float(lasted_s @ by_loop) > SETTING["loop_reads"] * float(lasted_s.sum()),
        beside=_share(lasted_s, outside) if loop.known else 0.0,
        overlap=_overlap(loop, placed.epoch, calls.start_s, lasted_s, outside) if loop.known else 0.0,
        goes_on=loop.known and _goes_on(loop, calls.start_s, calls.end_s),
        prepared_s=None if recorded.fetches is None else recorded.fetches.by_workers_s,
    )


def as_declared(facts: PipelineFacts, told: DeclaredInput | None) -> PipelineFacts:
    """Return the facts of a pipeline as its framework declares it; the same if it does not.

    Args:
        facts: As its calls show it.
        told: What the framework says.
    """
    if told is None:
        return facts
    return dataclasses.replace(
        facts,
        readers=float(told.readers) if told.readers else facts.readers,
        declared_readers=told.readers or None,
        prefetch=told.prefetch,
        framework=True,
        python=True,
        processes=told.processes,
        whole_batches=told.whole_batches,
        kept=told.kept,
    )


def _overlap(loop: LoopTimes, epoch: Array, start_s: Array, lasted_s: Array, outside: Array) -> float:
    """Return how busy readers are right before waits, in times of how busy they are in them, at most 1.

    Readers that rest have nothing left to read, so what counts is each wait and the step before it, in
    proportion to how long the wait is. Nothing is prepared before an epoch begins.

    Args:
        loop: When batches were asked for.
        epoch: The epoch of each batch.
        start_s: Starts of the calls on input.
        lasted_s: How long these took.
        outside: Which of them nobody waits for, bool.
    """
    place = loop.place(start_s)
    within_s, after_s = (
        np.bincount(place[chosen], lasted_s[chosen], len(loop.ask_s)) for chosen in (~outside, outside)
    )
    waits_s, rests_s = loop.got_s - loop.ask_s, loop.next_s - loop.got_s
    busy, busy_before = (
        within_s[1:] / np.maximum(waits_s[1:], TINY_S),
        after_s[:-1] / np.maximum(rests_s[:-1], TINY_S),
    )
    told_s = waits_s[1:] * ((busy > 0) & (epoch[1:] == epoch[:-1]))
    ratio = np.minimum(1.0, busy_before / np.where(busy > 0, busy, 1.0))
    return float(told_s @ ratio) / max(float(told_s.sum()), TINY_S)


def reads_on_demand(loop: LoopTimes, calls: InputCalls, by_loop: Array) -> bool:
    """Return whether readers begin no batch before it is asked for, as far as their calls show it.

    Args:
        loop: When batches were asked for.
        calls: On input.
        by_loop: Which of them the loop's own thread made, bool.
    """
    lasted_s = np.maximum(calls.end_s - calls.start_s, TINY_S)
    outside, epoch = _outside(loop, calls.start_s, by_loop), np.zeros(len(loop.ask_s), int)
    shares = _share(lasted_s, outside), _overlap(loop, epoch, calls.start_s, lasted_s, outside)
    ahead = max(shares) > SETTING["beside"] or _goes_on(loop, calls.start_s, calls.end_s)
    return loop.known and not ahead


def _outside(loop: LoopTimes, start_s: Array, by_loop: Array) -> Array:
    """Return which calls nobody waits for; what the loop's own thread reads it waits for at any time."""
    return (start_s >= loop.got_s[loop.place(start_s)]) & ~by_loop


def _share(lasted_s: Array, chosen: Array) -> float:
    """Return the share of the time in calls that some of them take."""
    return float(lasted_s @ chosen) / max(float(lasted_s.sum()), TINY_S)


def _goes_on(loop: LoopTimes, start_s: Array, end_s: Array) -> bool:
    """Return whether calls run across most moments at which the last call ended that a batch waited for.

    Args:
        loop: When batches were asked for, and there.
        start_s: Starts of the calls on input, ascending.
        end_s: Their ends.
    """
    ends_s = np.sort(end_s)
    last_s = np.append(-np.inf, ends_s)[np.searchsorted(ends_s, loop.got_s, side="right")]
    told_s = np.where(last_s >= loop.ask_s, loop.got_s - loop.ask_s, 0.0)
    running = np.searchsorted(start_s, last_s, side="left") > np.searchsorted(ends_s, last_s, side="right")
    return bool(2 * (told_s @ running) > told_s.sum())


def noted_facts(noted: NotedPipeline | None, readers: float, late_s: Array) -> PipelineFacts:
    """Return what the framework's own words say of it.

    Args:
        noted: The pipeline, None if none was noted.
        readers: Calls that ran at a time.
        late_s: How long after its first request each epoch's first call came.
    """
    reader = None if noted is None else noted.reader
    behind: list[int | None] = []
    if noted is not None and reader is not None:
        behind = [noted.run_calls(one) for one in noted.after(reader) if one.name == "map"]
    prefetch = None if noted is None else noted.has("prefetch") if noted.prefetches else None
    return PipelineFacts(
        readers=readers,
        declared_readers=None if reader is None else reader.calls,
        prefetch=None if noted is None else 0 if prefetch is None else (prefetch.size or AUTOTUNE),
        parallel_behind=next((calls for calls in behind if calls is not None), None),
        framework=noted is not None,
        python=reader is None or reader.name == "from_generator" or "python" in reader.does,
        processes=None,
        records=reader is not None and reader.name in RECORDS,
        compressed=noted is not None and any(stage.compression for stage in noted.stages),
        in_order=reader is None or reader.keeps_order,
        order_kept=reader is None or reader.with_calls(AUTOTUNE).keeps_order,
        late_s=late_s,
    )
