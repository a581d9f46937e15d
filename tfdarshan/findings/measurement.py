"""Measures a session once, for all findings."""

from __future__ import annotations

import dataclasses

from tfdarshan.analysis.analysis_cache import analysis_cache
from tfdarshan.analysis.calls.intervals import covered
from tfdarshan.analysis.calls.trace_span import dropped_events
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.file_totals import FileTotals
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.measured_session import MeasuredSession, measure_session
from tfdarshan.analysis.ranks.processor_share import others_share
from tfdarshan.analysis.ranks.rank_table import RankTable, rank_table
from tfdarshan.analysis.steps.step_model import StepModel
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.summary_data import SummaryData, summarize, summary_of
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.sessions.machine_facts import machine_of
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.traces.tf_device_time import device_time

FilesAndTotals = tuple[FileTable, FileTotals]


def measure(
    session: SessionData,
    top: int = 0,
    runner: Runner | None = None,
    tables: FilesAndTotals | None = None,
    measured: MeasuredSession | None = None,
) -> Measures:
    """Measure a session.

    Args:
        session: The session.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls of several processes for the time in I/O; None: this process.
        tables: What its files tables say, where they were read already.
        measured: The session, if it was measured already.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    found_files = SessionFiles(session, top, with_table=True)
    files, totals = tables or found_files.table_and_totals()
    measured, owner = measured or measure_session(session, runner=runner, files=files), session.meta[0]
    return Measures(
        measured=measured,
        summary=summary_of(session, totals, measured.clock, rank_table(session, found_files.grouped)),
        files=files,
        model=_with_device(measured.figures.model, session.processes[0], measured.windows),
        machine=machine_of(owner),
        imported="darshan" in owner,
        dropped_events=dropped_events(session.meta),
        pipelines=pipelines_of(owner),
        versions=owner.get("versions", {}),
    )


def measure_leading(
    session: SessionData,
    ranks: RankTable | None = None,
    runner: Runner | None = None,
    files: SessionFiles | None = None,
    measured: MeasuredSession | None = None,
) -> Measures:
    """Measure what findings speak of: of several ranks the one that waits most, beside a table of all.

    Each rank has a pipeline and steps of its own. The calls of the others are not read.

    Args:
        session: The session.
        ranks: The table, where it is there already.
        runner: As `measure` takes it.
        files: Its files tables, where others need them, too.
        measured: The session, if it was measured already; of several ranks the leading one is looked at anew.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    files = files or SessionFiles(session)
    if session.joint is None:
        return measure(session, runner=runner, tables=files.leading(), measured=measured)
    ranks = ranks or _kept_ranks(session, files)
    alone = measure(session.leading, runner=runner, tables=files.leading())
    # To the leading rank alone, the others are other programs.
    summary = dataclasses.replace(alone.summary, others_share=others_share(session.meta))
    return dataclasses.replace(alone, ranks=ranks, summary=summary)


def summary_and_measures(
    session: SessionData, top: int = 0, runner: Runner | None = None
) -> tuple[SummaryData, Measures]:
    """Measure a session for its summary, which is of all ranks, and for findings.

    Args:
        session: The session.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls of several processes or ranks for the time in I/O; None: this process.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    if session.joint is None:
        measures = measure(session, top, runner)
        return measures.summary, measures
    files = SessionFiles(session, top)
    data = summarize(session, top, runner or SERIAL, files)
    return data, measure_leading(session, data.ranks, runner, files)


def _kept_ranks(session: SessionData, files: SessionFiles) -> RankTable | None:
    kept = analysis_cache(session)
    ranks: RankTable | None = kept.get("job_ranks", lambda: rank_table(session, files.grouped))
    kept.save()
    return ranks


def _with_device(model: StepModel, owner: ProcessData, windows: StepWindows | None) -> StepModel:
    """Return the model with what TensorFlow's trace says of copies and communication within the steps."""
    found = None if windows is None else device_time(owner)
    if windows is None or found is None:
        return model
    parts = [
        float(covered(*intervals).within(windows.start_ns, windows.end_ns).sum()) / 1e9 / model.units
        for intervals in (found.copies, found.communication)
    ]
    return dataclasses.replace(model, data_s=parts[0], weights_s=parts[1])
