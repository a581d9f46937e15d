"""What a job's sessions say about the job as a whole: its time, its threads, what storage was charged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.analysis.files.file_table import FileTable, merge_files
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.files.reading_times import ReadingTimes
from tfdarshan.analysis.measured_session import MeasuredSession, measure_session
from tfdarshan.analysis.ranks.processor_share import others_share
from tfdarshan.analysis.storage.file_costs import add_costs
from tfdarshan.file_name import table_name
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.session_model import session_model
from tfdarshan.sessions.machine_facts import machine_of
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.file_use import FileUse, file_use


@dataclass(frozen=True)
class RunFacts:
    """Sums over all sessions.

    Attributes:
        duration_s: Time recorded.
        readers: Threads that read at a time, as findings count them (`analysis.reader_count`).
        paths: The session directories.
        steps_s: Time from the first step's start to the last one's end, None if a session has no steps or
            they end before its input does.
        input_wait: Share of the steps' time in which training waited for input, None if no step says so.
        traces: What each session whose trace lacks calls says of the part that it covers.
        memory_bytes: What the job may have of the machine's memory, None if a session does not say.
        storage_counted: Whether the kernel's figures say what storage served of the input, of every session.
        others_share: The largest share of them that other programs took in a session, None if none says.
    """

    duration_s: float
    readers: float
    paths: tuple[str, ...]
    steps_s: float | None = None
    input_wait: float | None = None
    traces: tuple[str, ...] = ()
    memory_bytes: int | None = None
    storage_counted: bool = False
    others_share: float | None = None

    @property
    def training_s(self) -> float:
        """The time that epochs are counted in: that of the steps, or all that was recorded, start-up too."""
        return self.duration_s if self.steps_s is None else self.steps_s


def measured_runs(
    sessions: Sequence[SessionData],
    stepped: Sequence[SessionData] | None = None,
    slow: str | None = None,
    runner: Runner = SERIAL,
    tables: Sequence[FileTable] = (),
) -> tuple[MeasuredSession, ...]:
    """Measure a job's sessions as staging asks them.

    Args:
        sessions: The sessions, all of one job or of like ones.
        stepped: Whose steps count, where `sessions` are single processes of these.
        slow: What is below this folder is data, whatever its name.
        runner: What reads the calls of several processes for the time in I/O.
        tables: The sessions' file tables, where they were read already.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    data_folder = None if slow is None else table_name(os.fsencode(slow))
    return tuple(
        measure_session(
            session,
            stepped=whole,
            data_folder=data_folder,
            runner=runner,
            files=tables[place] if tables else None,
        )
        for place, (session, whole) in enumerate(zip(sessions, stepped or sessions, strict=True))
    )


def read_run(sessions: Sequence[SessionData]) -> tuple[FileUse, RunFacts]:
    """Read what a job's sessions say: what each path was used for, and the run as a whole.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    return put_together(measured_runs(sessions))


def put_together(runs: Sequence[MeasuredSession]) -> tuple[FileUse, RunFacts]:
    """Return what sessions of a job say together: what each path was used for, and the run as a whole.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    files, places = merge_files([run.files for run in runs])
    is_input = runs[0].is_input if len(runs) == 1 else input_files(files, runs[0].data_folder)
    metas = [meta for run in runs for meta in run.session.meta]
    made, kept = (sum(int(meta["counts"][name]) for meta in metas) for name in ("events", "segments"))
    use = file_use(
        files,
        is_input,
        add_costs([run.epoch_figures.costs for run in runs], places, is_input),
        copies=sorted({copies for meta in metas if (copies := meta.get("copies"))}),
        emulated=any(meta.get("options", {}).get("as_if") is not None for meta in metas),
        traced_share=min(1.0, kept / made) if made else 0.0,
        reading=_reading(runs, places, len(files)) if kept >= made else (),
    )
    return use, _facts(runs)


def newest_job(runs: Sequence[MeasuredSession]) -> ModelledJob:
    """Return the replay model of the newest session; of several ranks that of the leading one.

    Args:
        runs: Sessions of one job, or of like ones.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    newest = max(runs, key=lambda run: int(run.session.meta[0].get("origin_realtime_ns") or 0))
    if newest.session.joint is not None:
        newest = measure_session(newest.session.leading, data_folder=newest.data_folder)
    return session_model(newest)


def _reading(
    runs: Sequence[MeasuredSession], places: Sequence[Array], count: int
) -> tuple[ReadingTimes, ...]:
    """Return when the files were read, in each session, as the table of `count` rows has them."""
    times = [run.epoch_figures.pipeline.reading for run in runs]
    known = [(found, place) for found, place in zip(times, places, strict=True) if found is not None]
    if len(known) < len(runs):
        return ()
    return tuple(found if len(runs) == 1 else found.moved(place, count) for found, place in known)


def run_facts(sessions: Sequence[SessionData]) -> RunFacts:
    """Gather the facts alone, as `read_run` does."""
    return read_run(sessions)[1]


def _facts(runs: Sequence[MeasuredSession]) -> RunFacts:
    clocks = [run.clock for run in runs]
    thread = [clock.thread_s for clock in clocks]
    steps = [run.epochs_s for run in runs]
    memory = [machine_of(run.session.meta[0]).memory_bytes for run in runs]
    others = [others_share(run.session.meta) for run in runs]
    return RunFacts(
        duration_s=sum(clock.duration_s for clock in clocks),
        readers=_readers(runs, thread),
        paths=tuple(str(run.session.path.absolute()) for run in runs),
        steps_s=None if None in steps else sum(value or 0.0 for value in steps),
        input_wait=_input_wait(runs),
        traces=tuple(
            span.sentence for span in (trace_span(run.session.meta) for run in runs) if span is not None
        ),
        memory_bytes=None if None in memory else min(found or 0 for found in memory),
        others_share=max((share for share in others if share is not None), default=None),
        storage_counted=all(run.epoch_figures.stored_bytes is not None for run in runs),
    )


def _input_wait(runs: Sequence[MeasuredSession]) -> float | None:
    found = [run.windows for run in runs]
    known = [windows for windows in found if windows is not None and windows.wait_s is not None]
    span_s = sum(windows.span_s for windows in known)
    return sum(windows.wait_s or 0.0 for windows in known) / span_s if span_s else None


def _readers(runs: Sequence[MeasuredSession], thread_s: Sequence[float | None]) -> float:
    """Return the readers by which all sessions' time in calls is to be divided."""
    readers = [run.epoch_figures.model.readers for run in runs]
    if len(readers) == 1:
        return readers[0]
    weights = [1.0 if None in thread_s else value or 0.0 for value in thread_s]
    if not any(weights):
        return 1.0
    return sum(weights) / sum(weight / count for weight, count in zip(weights, readers, strict=True))
