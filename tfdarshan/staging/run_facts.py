"""What a job's sessions say about the job as a whole: its time, its threads, what storage was charged."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.file_costs import add_costs
from tfdarshan.analysis.file_table import FileTable, load_files, merge_files
from tfdarshan.analysis.in_order.pause_calls import PauseCounts, PauseReading
from tfdarshan.analysis.in_order.session_calls import SessionCalls
from tfdarshan.analysis.input_figures import InputFigures, loop_thread, measure_input
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.input_pipeline import input_pipeline
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.processor_share import others_share
from tfdarshan.analysis.reading_times import ReadingTimes
from tfdarshan.analysis.segments import Segments, segment_blocks
from tfdarshan.analysis.set_folders import data_sets
from tfdarshan.analysis.step_model import OWN_CALLS, SATURATED, StepModel
from tfdarshan.analysis.step_windows import StepWindows, step_windows
from tfdarshan.analysis.storage_share import fetched_bytes
from tfdarshan.analysis.tf_data_pipeline import pipelines_of
from tfdarshan.analysis.trace_span import trace_span
from tfdarshan.analysis.wall_clock import WallClock, measure_wall_clock
from tfdarshan.file_name import table_name
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.recording.job_machine import machine_of
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.step_table import FROM_TRACE
from tfdarshan.staging.file_use import FileUse, file_use

# Of what a pipeline does besides reading, the part that processor time explains where it decodes.
EXPLAINED = 0.4
# A session that lasts so many times as long as training says little of what processors did meanwhile.
ALL_TRAINING = 1.1


@dataclass(frozen=True)
class RunFacts:
    """Sums over all sessions.

    Attributes:
        duration_s: Time recorded.
        io_s: Wall-clock time in which at least one file call was running, None if a session does not say.
        thread_s: All calls' durations added up.
        readers: Threads that read at a time, as findings count them (`analysis.reader_count`).
        read_bytes: Bytes the kernel charged as fetched from storage, None if a session does not say or its
            storage was emulated.
        paths: The session directories.
        steps_s: Time from the first step's start to the last one's end, None if a session has no steps or
            they end before its input does.
        input_wait: Share of the steps' time in which training waited for input, None if no step says so.
        traces: What each session whose trace lacks calls says of the part that it covers.
        loop_share: Share of the input calls' time that the training loop's own thread stood still for, both
            without what `pauses_s` has.
        model: The time model of `training_s` as one unit; None makes it of the facts above.
        memory_bytes: What the job may have of the machine's memory, None if a session does not say.
        storage_counted: Whether the kernel's figures say what storage served of the input, of every session.
        pauses_s: Time between steps in which the loop stood still for files that no step reads, whoever read
            them.
        pauses_at_a_time: How many of these reads ran at a time.
        reads_apart: Whether calls of their own read, beside what a later stage of the pipeline does.
        cpus: Processors that the job may use, None if a session does not say.
        others_share: The largest share of them that other programs took in a session, None if none says.
    """

    duration_s: float
    io_s: float | None
    thread_s: float
    readers: float
    read_bytes: int | None
    paths: tuple[str, ...]
    steps_s: float | None = None
    input_wait: float | None = None
    traces: tuple[str, ...] = ()
    loop_share: float = 0.0
    model: StepModel | None = None
    memory_bytes: int | None = None
    storage_counted: bool = False
    pauses_s: float = 0.0
    pauses_at_a_time: float = 1.0
    reads_apart: bool = False
    cpus: float | None = None
    others_share: float | None = None

    @property
    def training_s(self) -> float:
        """The time that epochs are counted in: that of the steps, or all that was recorded, start-up too."""
        return self.duration_s if self.steps_s is None else self.steps_s

    @property
    def busy_share(self) -> float:
        """The share of the time in which the readers were in file calls, 0 to 1 and a little more."""
        return self.thread_s / (max(self.readers, 1.0) * self.training_s) if self.training_s > 0 else 0.0

    @property
    def loop_reads(self) -> bool:
        """Whether the loop's own thread makes nearly all input calls, or is in them nearly all the time."""
        own_s = self.loop_share * self.thread_s
        return self.loop_share >= OWN_CALLS or own_s >= SATURATED * self.training_s > 0

    @property
    def may_wait_for_decoding(self) -> bool:
        """Whether what decodes beside the reads may be what steps wait for, and the reads wait for it, too.

        It is so if readers rest, and processors work for longer than storage does.
        """
        model = self.model
        if model is None or not self.reads_apart or model.cpu_s is None or model.busy_share >= SATURATED:
            return False
        return model.other_s > model.storage_s and model.cpu_s >= EXPLAINED * model.other_s

    @property
    def worked_s(self) -> float:
        """What training takes at least, by what the job's processors work: as if all of them always did.

        0 where that is not known, or the session is longer than training: imports work, too.
        """
        cpu_s = None if self.model is None else self.model.cpu_s
        if not cpu_s or not self.cpus or self.duration_s > ALL_TRAINING * self.training_s:
            return 0.0
        return cpu_s / self.cpus

    @property
    def concurrency(self) -> float:
        """Calls at a time while at least one was running; `readers` where the sessions do not say."""
        return self.thread_s / self.io_s if self.io_s and self.thread_s else self.readers

    def model_with(self, input_wait: float | None) -> StepModel:
        """Gives the time model of `training_s` as one unit, in which such a share of it waits for input."""
        model = self.model or self._model()
        if input_wait is None or input_wait == self.input_wait:
            return model
        wait_s = input_wait * self.training_s
        return dataclasses.replace(model, wait_s=wait_s, most_wait_s=wait_s, unhidden_s=0.0)

    def _model(self) -> StepModel:
        whole_s, readers = max(self.training_s, 1e-9), max(self.readers, 1.0)
        wait_s = None if self.input_wait is None else self.input_wait * whole_s
        most_s = whole_s if self.io_s is None else min(self.io_s, whole_s)
        return StepModel(
            unit="session", units=1, unit_s=whole_s, wait_s=wait_s,
            most_wait_s=most_s if wait_s is None else wait_s, overlap=0.0,
            storage_s=min(self.thread_s / readers, whole_s), readers=readers,
            busy_share=min(1.0, self.busy_share),
        )  # fmt: skip


def read_run(
    sessions: Sequence[SessionData],
    stepped: Sequence[SessionData] | None = None,
    slow: str | None = None,
    runner: Runner = SERIAL,
    tables: Sequence[FileTable] = (),
) -> tuple[FileUse, RunFacts]:
    """Reads what a job's sessions say: what each path was used for, and the run as a whole.

    Args:
        sessions: The sessions, all of one job or of like ones.
        stepped: Whose steps count, where `sessions` are single processes of these.
        slow: What is below this folder is data, whatever its name.
        runner: What reads the calls of several processes for the time in I/O.
        tables: The sessions' file tables, where they were read already.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    stepped = stepped or sessions
    data_folder = None if slow is None else table_name(os.fsencode(slow))
    return put_together(
        [
            _run(session, whole, tables[place] if tables else None, data_folder, runner)
            for place, (session, whole) in enumerate(zip(sessions, stepped, strict=True))
        ],
        data_folder,
    )


def put_together(runs: Sequence[Run], data_folder: str | None = None) -> tuple[FileUse, RunFacts]:
    """Gives what `read_run` does, of sessions that were measured already."""
    files, places = merge_files([run.figures.files for run in runs])
    is_input = runs[0].figures.is_input if len(runs) == 1 else input_files(files, data_folder)
    metas = [meta for run in runs for meta in run.session.meta]
    made, kept = (sum(int(meta["counts"][name]) for meta in metas) for name in ("events", "segments"))
    use = file_use(
        files,
        is_input,
        add_costs([run.figures.costs for run in runs], places, is_input),
        emulated=any(meta.get("options", {}).get("as_if") is not None for meta in metas),
        traced_share=min(1.0, kept / made) if made else 0.0,
        samples=[run.figures.pipeline.sample for run in runs],
        reading=_reading(runs, places, len(files)) if kept >= made else (),
        in_pauses=_in_pauses(runs, places, len(files)),
        runs=max(len(runs), sum(bool(meta.get("owner")) for meta in metas)),
        run_s=max(run.clock.duration_s for run in runs),
    )
    return use, _facts(runs)


def _reading(runs: Sequence[Run], places: Sequence[Array], count: int) -> tuple[ReadingTimes, ...]:
    """Gives when the files were read, in each session, as the table of `count` rows has them."""
    times = [run.figures.pipeline.reading for run in runs]
    known = [(found, place) for found, place in zip(times, places, strict=True) if found is not None]
    if len(known) < len(runs):
        return ()
    return tuple(found if len(runs) == 1 else found.moved(place, count) for found, place in known)


def _in_pauses(runs: Sequence[Run], places: Sequence[Array], count: int) -> Array:
    """Says which files the loop stands still for between steps, a mask over the table of `count` rows."""
    mask = np.zeros(count, bool)
    for run, place in zip(runs, places, strict=True):
        if run.pauses is not None:
            mask[run.pauses.rows if len(runs) == 1 else place[run.pauses.rows]] = True
    return mask


def run_facts(sessions: Sequence[SessionData], stepped: Sequence[SessionData] | None = None) -> RunFacts:
    """Gathers the facts alone, as `read_run` does."""
    return read_run(sessions, stepped)[1]


@dataclass(frozen=True)
class Run:
    """One session, and what was measured of it.

    Attributes:
        session: The session, or a process of it.
        clock: Its times.
        steps_s: Time from the first step's start to the last one's end, None if epochs take all time.
        windows: The steps that are judged, None if there are none.
        figures: Its input.
        pauses: What was read between its steps alone, None if that is nothing.
    """

    session: SessionData
    clock: WallClock
    steps_s: float | None
    windows: StepWindows | None
    figures: InputFigures
    pauses: PauseReading | None = None


def _run(
    session: SessionData,
    stepped: SessionData,
    files: FileTable | None,
    data_folder: str | None,
    runner: Runner,
) -> Run:
    processes = session.processes
    files = load_files(processes) if files is None else files
    pa.default_memory_pool().release_unused()
    clock = measure_wall_clock(processes, runner=runner)
    steps_s = _steps_s(stepped)
    judged = step_windows(stepped.step_bounds)
    # Where the steps do not last as long as what epochs are counted in, all calls count.
    windows = judged if judged is not None and judged.span_s == steps_s else None

    def blocks(columns: Collection[str]) -> Iterator[Segments]:
        within_ns = None if windows is None else windows.span_ns
        return segment_blocks(processes, files.index, within_ns, columns=columns)

    is_loop = loop_thread(stepped.processes[0])
    size, is_input = files.rows["size_bytes"].to_numpy(), input_files(files, data_folder)
    counts = PauseCounts.between(windows, len(files))
    watch = None if counts is None else counts.watch
    pipeline = input_pipeline(blocks, size, is_input, windows, is_loop, watch, data_sets(files, is_input))
    calls = SessionCalls(processes, files.index)
    figures = measure_input(processes, files, pipeline, windows, clock, calls, data_folder)
    pauses = None if counts is None else counts.reading(calls, is_input, windows, is_loop)
    return Run(session, clock, steps_s, judged, figures, pauses)


def _facts(runs: Sequence[Run]) -> RunFacts:
    clocks = [run.clock for run in runs]
    io = [clock.io_s if clock.io_s is not None else clock.read_s for clock in clocks]
    thread = [clock.thread_s for clock in clocks]
    called = [float(run.figures.costs.call_s.sum()) for run in runs]
    steps = [run.steps_s for run in runs]
    memory = [machine_of(run.session.meta[0]).memory_bytes for run in runs]
    cpus = [machine_of(run.session.meta[0]).cpus for run in runs]
    others = [others_share(run.session.meta) for run in runs]
    read_bytes = [fetched_bytes(run.session.meta) for run in runs]
    facts = RunFacts(
        duration_s=sum(clock.duration_s for clock in clocks),
        io_s=None if None in io else sum(value or 0.0 for value in io),
        thread_s=sum(called) if None in thread else sum(value or 0.0 for value in thread),
        readers=_readers(runs, thread),
        read_bytes=None if None in read_bytes else sum(value or 0 for value in read_bytes),
        paths=tuple(str(run.session.path.absolute()) for run in runs),
        steps_s=None if None in steps else sum(value or 0.0 for value in steps),
        input_wait=_input_wait(runs),
        traces=tuple(
            span.sentence for span in (trace_span(run.session.meta) for run in runs) if span is not None
        ),
        memory_bytes=None if None in memory else min(found or 0 for found in memory),
        cpus=None if None in cpus else min(found or 0.0 for found in cpus),
        others_share=max((share for share in others if share is not None), default=None),
        storage_counted=all(run.figures.stored_bytes is not None for run in runs),
    )
    groups = [group for run in runs for group in run.figures.calls.values()]
    within_s, called_s = (sum(getattr(group, name) for group in groups) for name in ("within_s", "thread_s"))
    pauses = [run.pauses for run in runs if run.pauses is not None]
    pauses_s, in_them_s, by_loop_s = (
        sum(getattr(one, name) for one in pauses) for name in ("reading_s", "thread_s", "loop_s")
    )
    within_s, called_s = max(0.0, within_s - by_loop_s), max(0.0, called_s - in_them_s)
    model = _merged([run.figures.model for run in runs], facts)
    return dataclasses.replace(
        facts,
        model=model,
        loop_share=within_s / called_s if called_s else 0.0,
        pauses_s=pauses_s,
        reads_apart=all(_reads_apart(run.session.meta[0]) for run in runs),
        pauses_at_a_time=max(1.0, in_them_s / pauses_s) if pauses_s else 1.0,
    )


def _merged(models: Sequence[StepModel], facts: RunFacts) -> StepModel:
    """Gives the models of all sessions as one, whose unit is the time that epochs are counted in."""
    whole_s = max(facts.training_s, 1e-9)
    wait_s = None if facts.input_wait is None else facts.input_wait * whole_s
    most_s = sum(model.units * model.most_wait_s for model in models) if wait_s is None else wait_s
    computed = [model.units * model.compute_s for model in models]
    overlaps = sum(model.overlap * part for model, part in zip(models, computed, strict=True))
    used = [None if model.cpu_s is None else model.units * model.cpu_s for model in models]
    busy = sum(model.busy_share * model.all_s for model in models)
    return StepModel(
        unit="session", units=1, unit_s=whole_s, wait_s=wait_s, most_wait_s=min(most_s, whole_s),
        overlap=models[0].overlap if len(models) == 1 else overlaps / max(sum(computed), 1e-9),
        storage_s=min(sum(model.units * model.storage_s for model in models), whole_s),
        readers=facts.readers, busy_share=busy / max(sum(model.all_s for model in models), 1e-9),
        cpu_s=None if None in used else sum(value or 0.0 for value in used),
        handed_s=sum(model.units * model.handed_s for model in models),
        shared_writes_s=sum(model.units * model.shared_writes_s for model in models),
        writes_for_reads_s=sum(model.units * model.writes_for_reads_s for model in models),
        unhidden_s=sum(model.units * model.unhidden_s for model in models),
    )  # fmt: skip


def _reads_apart(meta: dict[str, Any]) -> bool:
    """Says whether the pipeline has calls that read, and a function that goes on with what they give."""
    found = next((one for one in pipelines_of(meta) or () if one.reader is not None), None)
    if found is None or found.reader is None or found.reader.calls is None:
        return False
    return any(stage.name == "map" for stage in found.after(found.reader))


def _steps_s(session: SessionData) -> float | None:
    """Gives the time from a session's first step to its last one, None where they do not last to its end."""
    steps, owner = session.step_bounds, session.meta[0]
    if len(steps) == 0 or owner.get("steps", {}).get("left_out"):
        return None
    if (steps["source"] == FROM_TRACE).any() and _trace_ended_early(owner):
        return None
    return float(steps["end_ns"].max() - steps["start_ns"].min()) / 1e9


def _trace_ended_early(owner: dict[str, Any]) -> bool:
    """Says whether TensorFlow's trace ended before the session's last call."""
    end_ns = owner.get("tensorflow", {}).get("end_ns") or 0
    return 0 < int(end_ns) < int(owner["time"].get("last_event_ns") or 0)


def _input_wait(runs: Sequence[Run]) -> float | None:
    found = [run.windows for run in runs]
    known = [windows for windows in found if windows is not None and windows.wait_s is not None]
    span_s = sum(windows.span_s for windows in known)
    return sum(windows.wait_s or 0.0 for windows in known) / span_s if span_s else None


def _readers(runs: Sequence[Run], thread_s: Sequence[float | None]) -> float:
    """Gives the readers by which all sessions' time in calls is to be divided."""
    readers = [run.figures.model.readers for run in runs]
    if len(readers) == 1:
        return readers[0]
    weights = [1.0 if None in thread_s else value or 0.0 for value in thread_s]
    if not any(weights):
        return 1.0
    return sum(weights) / sum(weight / count for weight, count in zip(weights, readers, strict=True))
