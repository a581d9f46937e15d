"""Reads the facts of a job from its session: by the functions of analysis/ that say what is what."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.rereads import epochs_of
from tfdarshan.analysis.measured_session import MeasuredSession, measure_session
from tfdarshan.analysis.steps.loader_fetches import LoaderFetches
from tfdarshan.frameworks.all_frameworks import declared_input
from tfdarshan.replay.batch_facts import batch_facts, validation_files
from tfdarshan.replay.counted_facts import counted_facts
from tfdarshan.replay.fault_calls import with_faults
from tfdarshan.replay.job_facts import JobFacts, may_hide, processor_facts
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.loop_times import loop_times, union_by
from tfdarshan.replay.pipeline_facts import (
    as_declared,
    noted_pipeline,
    pipeline_facts,
    reads_on_demand,
    shuffled_tasks,
)
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import InputCalls, ReadTasks, read_tasks
from tfdarshan.replay.recorded_job import RecordedJob, job_with_faults, recorded_job
from tfdarshan.replay.storage_facts import storage_facts
from tfdarshan.replay.task_batches import batches_of
from tfdarshan.sessions.session_data import SessionData


def facts_of(session: SessionData) -> JobFacts:
    """Return the facts of a session's job; of a job of several ranks those of the leading one.

    Of a session without a trace of calls, or of more calls than are kept in memory, they are those that its
    counters tell.

    Args:
        session: The session.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    return recorded_facts(measure_session(session.leading))


def recorded_facts(measured: MeasuredSession) -> JobFacts:
    """Return the facts of the job whose session was measured, as `facts_of` does.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    session, calls = measured.session, measured.calls.in_memory
    faults = None if calls is None else with_faults(session.processes, measured.files)
    if calls is None or not (len(calls) or faults):
        return counted_facts(measured)
    recorded = recorded_job(measured, calls) if faults is None else job_with_faults(measured, faults)
    return job_facts(recorded, session.meta[0])


def job_facts(recorded: RecordedJob, meta: dict[str, Any]) -> JobFacts:
    """Return the facts of a job whose session was looked at already.

    Args:
        recorded: The session.
        meta: What its owner says.
    """
    kinds, start_s, end_s = recorded.kinds, recorded.calls.start_ns / 1e9, recorded.calls.end_ns / 1e9
    is_input = recorded.is_input[recorded.calls.file] & (kinds != KIND["write"]) & (kinds != KIND["sync"])
    # What follows the last call is still the job's: its loop computes with what was read ahead.
    ends_s = max(float(end_s.max(initial=0.0)), meta.get("duration_ns", 0) / 1e9)
    lasted_s = (end_s - start_s) * is_input
    loop_reads = float(lasted_s @ recorded.is_loop) > SETTING["loop_reads"] * float(lasted_s.sum())
    times = start_s[is_input], end_s[is_input]
    epochs = round(epochs_of(recorded.files, recorded.is_input))
    loop = loop_times(recorded.windows, *times, ends_s, epochs=epochs, loop_reads=loop_reads)
    between = validation_files(recorded, is_input, loop)
    validating = is_input & between[recorded.calls.file]
    after = (validating | recorded.is_loop & recorded.is_output) & (start_s >= loop.stop_s[-1])
    loop = dataclasses.replace(loop, last_s=float(end_s[after].max(initial=0.0)))
    reading = is_input & ~validating & ~_starts_workers(recorded)
    reading &= (start_s >= loop.ask_s[0] - TINY_S) & (start_s < loop.stop_s[-1])
    calls = _input_calls(recorded, reading)
    tasks = read_tasks(calls, recorded.files.rows["size_bytes"].to_numpy(), len(loop.ask_s))
    fetches = recorded.fetches
    if fetches is not None and len(tasks):
        tasks = dataclasses.replace(tasks, epoch=_told_epochs(tasks, calls, recorded, fetches))
    if recorded.faults is not None:
        tasks = recorded.faults.as_many(tasks)
    noted = noted_pipeline(meta, recorded.windows)
    ahead = 0 if noted is None else shuffled_tasks(noted, len(tasks), len(loop.ask_s))
    told, by_loop = None if noted is not None else declared_input(meta), recorded.is_loop[reading]
    on_demand = noted is None and told is None and reads_on_demand(loop, calls, by_loop)
    placed = batches_of(
        tasks, loop, ahead, by_loop=loop_reads, on_demand=on_demand, may_cache=told is None, fetches=fetches
    )
    return JobFacts(
        batches=batch_facts(recorded, loop, reading, validating, placed.epoch),
        tasks=placed.tasks,
        batch=placed.batch,
        pipeline=as_declared(pipeline_facts(recorded, noted, calls, loop, placed, ahead, by_loop), told),
        storage=storage_facts(recorded, meta, calls, tasks),
        processors=processor_facts(meta),
        files=recorded.files,
        validating=between,
        validation_readers=_at_a_time(start_s[validating], end_s[validating]),
        hidden=may_hide(meta, recorded.windows),
    )


def _starts_workers(recorded: RecordedJob) -> Array:
    """Return which calls are part of starting a loader's workers, bool."""
    fetches, calls = recorded.fetches, recorded.calls
    return np.zeros(len(calls), bool) if fetches is None else fetches.starts(calls)


def _told_epochs(tasks: ReadTasks, calls: InputCalls, recorded: RecordedJob, fetches: LoaderFetches) -> Array:
    """Return the epochs of tasks as a loader's batches tell them: samples of one file do not."""
    numbers = np.array([thread.tid for thread in recorded.calls.threads])
    thread = numbers[calls.thread[np.searchsorted(calls.start_s, tasks.begin_s)]]
    return fetches.epochs_of(thread, np.round(1e9 * tasks.begin_s))


def _at_a_time(start_s: Array, end_s: Array) -> float:
    """Return how many calls ran at a time while any did, at least 1."""
    running_s = float(union_by(np.zeros(len(start_s), int), start_s, end_s, 1)[0])
    return max(float((end_s - start_s).sum()) / max(running_s, TINY_S), 1.0)


def _input_calls(recorded: RecordedJob, chosen: Array) -> InputCalls:
    calls = recorded.calls
    processes = [(thread.process, thread.pid) for thread in calls.threads]
    numbers = {process: number for number, process in enumerate(processes)}
    process = np.array([numbers[one] for one in processes] or [0])
    return InputCalls(
        calls.start_ns[chosen] / 1e9, calls.end_ns[chosen] / 1e9, recorded.kinds[chosen],
        calls.file[chosen], calls.thread[chosen], calls.offset[chosen], calls.length[chosen],
        process[calls.thread[chosen]],
        ~calls.is_fault[chosen],
    )  # fmt: skip
