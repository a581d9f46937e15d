"""Measures a session once, for all findings."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.analysis_cache import kept_looks
from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.calls.session_calls import SessionCalls
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.file_totals import FileTotals
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.files.own_files import own_files
from tfdarshan.analysis.files.rereads import rereads
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.input_figures import loop_thread, measure_input
from tfdarshan.analysis.ranks.rank_table import RankTable, rank_table
from tfdarshan.analysis.steps.input_look import InputFacts, InputLook
from tfdarshan.analysis.steps.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.steps.step_model import StepModel
from tfdarshan.analysis.steps.step_windows import StepWindows, step_windows
from tfdarshan.analysis.summary_data import summary_of
from tfdarshan.analysis.tf_data_pipeline import pipelines_of
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.trace_room import TraceRoom, trace_room
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.sessions.machine_facts import machine_of
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import step_marks
from tfdarshan.sessions.traces.tf_device_time import device_time
from tfdarshan.staging.run_facts import Run
from tfdarshan.thresholds import THRESHOLD

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

FilesAndTotals = tuple[FileTable, FileTotals]


def measure(
    session: SessionData, top: int = 0, runner: Runner | None = None, tables: FilesAndTotals | None = None
) -> Measures:
    """Measures a session.

    Args:
        session: The session.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls of several processes for the time in I/O; None: this process.
        tables: What its files tables say, where they were read already.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes, found_files = session.processes, SessionFiles(session, top, with_table=True)
    files, totals = tables or found_files.table_and_totals()
    calls = SessionCalls(processes, files.index)
    pa.default_memory_pool().release_unused()
    kept = kept_looks(session)
    asked = len(processes) > 1 and runner is None and kept.find("unions") is None
    in_memory = calls.in_memory if asked else None
    clock = measure_wall_clock(processes, in_memory, runner or SERIAL, kept=kept)
    windows, is_loop = step_windows(step_marks(processes)), loop_thread(processes[0])
    room = trace_room(session.meta)

    def look() -> tuple[InputPipeline, InputFacts]:
        passes, counts = _pass_bytes(files, room), files.rows["reads"].to_numpy()
        size, is_input = files.rows["size_bytes"].to_numpy(), input_files(files)
        found = InputLook(counts, size, windows, is_loop, passes, _with_own(files, is_input))
        pipeline = input_pipeline(calls.blocks, size, is_input, windows, is_loop, found.add)
        return pipeline, found.facts()

    pipeline, facts = kept.get("input", look)
    figures = measure_input(processes, files, pipeline, windows, clock)
    pauses = kept.get(
        "pauses",
        lambda: None if facts.pauses is None else facts.pauses.reading(calls, figures.is_input, windows),
    )
    return Measures(
        summary=summary_of(session, totals, clock, rank_table(session, found_files.grouped)),
        files=files,
        figures=figures,
        run=Run(session, clock, None if windows is None else windows.span_s, windows, figures, pauses),
        session_calls=calls,
        facts=facts,
        kept=kept,
        model=_with_device(figures.model, processes[0], windows),
        machine=machine_of(session.meta[0]),
        is_loop=is_loop,
        imported="darshan" in session.meta[0],
        trace_room=room,
        pipelines=pipelines_of(session.meta[0]),
        versions=session.meta[0].get("versions", {}),
    )


def measure_leading(
    session: SessionData,
    ranks: RankTable | None = None,
    runner: Runner | None = None,
    files: SessionFiles | None = None,
) -> Measures:
    """Measures what findings speak of: of several ranks the one that waits most, beside a table of all.

    Each rank has a pipeline and steps of its own. The calls of the others are not read.

    Args:
        session: The session.
        ranks: The table, where it is there already.
        runner: As `measure` takes it.
        files: Its files tables, where others need them, too.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    files = files or SessionFiles(session)
    if session.joint is None:
        return measure(session, runner=runner, tables=files.leading())
    ranks = ranks or _kept_ranks(session, files)
    alone = measure(session.of_rank(session.joint.leading), runner=runner, tables=files.leading())
    return dataclasses.replace(alone, ranks=ranks)


def _kept_ranks(session: SessionData, files: SessionFiles) -> RankTable | None:
    kept = kept_looks(session)
    ranks: RankTable | None = kept.get("ranks", lambda: rank_table(session, files.grouped))
    kept.save()
    return ranks


def _pass_bytes(files: FileTable, room: TraceRoom) -> float | None:
    """Gives what the input has in bytes, if it was read several times and no call is missing; else None."""
    found = rereads(files, input_files(files))
    return (
        float(found.unique_bytes) if found.passes >= THRESHOLD["again"] and not room.dropped_calls else None
    )


def _with_own(files: FileTable, is_input: Array) -> tuple[Array, Array] | None:
    """Gives which files are input, and which the job made itself on the input's storage; None without any."""
    mount = files.rows["mount_point"].cat.codes.to_numpy()
    own = own_files(files) & np.isin(mount, np.unique(mount[is_input]))
    return (is_input, own) if own.any() else None


def _with_device(model: StepModel, owner: ProcessData, windows: StepWindows | None) -> StepModel:
    """Gives the model with what TensorFlow's trace says of copies and communication within the steps."""
    found = None if windows is None else device_time(owner)
    if windows is None or found is None:
        return model
    parts = [
        float(covered(*intervals).within(windows.start_ns, windows.end_ns).sum()) / 1e9 / model.units
        for intervals in (found.copies, found.communication)
    ]
    return dataclasses.replace(model, data_s=parts[0], weights_s=parts[1])
