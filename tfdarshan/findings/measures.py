"""What findings read: measured once from a session, as columns and sums over them."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.access_order import streamed_share
from tfdarshan.analysis.call_kinds import KIND, NO_CALLS, CallGroup
from tfdarshan.analysis.file_costs import FileCosts, counted_costs, traced_costs
from tfdarshan.analysis.file_table import FileTable, load_files
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.output_calls import OutputCalls, output_calls
from tfdarshan.analysis.segments import Segments, load_segments
from tfdarshan.analysis.step_model import MOST_OF_WAIT, StepModel
from tfdarshan.analysis.step_windows import StepWindows, step_windows
from tfdarshan.analysis.summary_data import SummaryData, summarize
from tfdarshan.analysis.time_model import TimeModel, fit_time_model
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.trace_room import TraceRoom, trace_room
from tfdarshan.recording.job_machine import Machine, machine_of
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import step_marks
from tfdarshan.sessions.traces.tf_device_time import device_time

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

# A finding that costs a smaller share of the time is none.
LEAST_SHARE = 0.02
# Where the page cache serves the input, its calls are the processors' work: other load makes them longer.
LEAST_CACHED_SHARE = 0.05
CACHED = 0.1
FIT_AT_MOST = 200_000
NOISE = 0.01


@dataclass(frozen=True)
class Measures:
    """One session, measured. Sums are over all units of `model`.

    Attributes:
        summary: What `tfdarshan summary` says.
        files: One row per path.
        is_input: Which of its rows are input, bool.
        segments: All calls that have a segment.
        windows: The steps, None if there are none.
        pipeline: The calls on input files within the steps.
        calls: These by kind. Where the trace was cut short they are scaled up to all calls; where there is
            none, they are what the counters say: all reads as "read", and opens, closes, stats as "other".
        model: The time model.
        machine: Where it ran.
        loop_thread: The thread that runs the training loop, an index into `segments.threads`.
        imported: Whether the session is a Darshan log.
        trace_room: Calls that a bound of the trace left without a segment.
    """

    summary: SummaryData
    files: FileTable
    is_input: Array
    segments: Segments
    windows: StepWindows | None
    pipeline: InputPipeline
    calls: dict[str, CallGroup]
    model: StepModel
    machine: Machine
    loop_thread: int | None
    imported: bool
    trace_room: TraceRoom

    @property
    def traced(self) -> bool:
        """Whether calls have segments: what single calls took is known."""
        return len(self.segments) > 0

    @property
    def kinds_known(self) -> bool:
        """Whether the times of opens, stats and empty reads are told apart; a log has those of reads only."""
        return self.traced and not self.imported

    @property
    def loop(self) -> str:
        """What the process's first thread is called: nothing says that a job without steps trains."""
        return "the main thread" if self.windows is None else "the training loop"

    @property
    def why_no_wait(self) -> str:
        """Why it is not known what steps waited for."""
        return "no step was recorded" if self.windows is None else "the steps do not say what they waited"

    def untraced(self, name: str, what: str) -> Unknown:
        """Gives what is to be said of a finding that needs the trace of single calls where there is none."""
        if not self.imported:
            return Unknown(name, f"{what}: there is no trace of single calls", "record with trace=True")
        why = "does not tell kinds of calls apart" if self.traced else "has no single calls"
        return Unknown(name, f"{what}: the log {why}", "record with tfdarshan.profile()")

    def group(self, *kinds: str) -> CallGroup:
        """Gives calls of some kinds together."""
        return sum((self.calls.get(kind, NO_CALLS) for kind in kinds), start=NO_CALLS)

    @cached_property
    def read_cost(self) -> TimeModel:
        """What a read of data takes: a time of its own, and a time per byte."""
        places = self.pipeline.chosen[self.pipeline.kind == KIND["read"]]
        places = places[:: max(1, len(places) // FIT_AT_MOST)]
        segments = self.segments
        return fit_time_model(
            segments.length[places], (segments.end_ns[places] - segments.start_ns[places]) / 1e9
        )

    @cached_property
    def costs(self) -> FileCosts:
        """What the pipeline's calls cost, file by file."""
        if not self.traced:
            return counted_costs(self.files, self.is_input)
        return traced_costs(self.segments, self.pipeline, len(self.files))

    @cached_property
    def sizes(self) -> Array:
        """The files' sizes in bytes, -1 if unknown."""
        sizes: Array = self.files.rows["size_bytes"].to_numpy()
        return sizes

    @cached_property
    def unique_bytes(self) -> float:
        """Bytes of the input that was read, each byte once."""
        read = self.costs.read_bytes
        known = np.where(self.sizes > 0, np.minimum(read, self.sizes), read)
        return float(known.sum())

    @cached_property
    def epochs(self) -> float:
        """How often the input was read, at least once."""
        return max(1.0, float(self.costs.read_bytes.sum()) / self.unique_bytes) if self.unique_bytes else 1.0

    @cached_property
    def slow_share(self) -> float:
        """Share of the reads' time that the page cache cannot have served."""
        whole = float(self.costs.read_s.sum())
        return float(self.costs.slow_s.sum()) / whole if whole > 0 else 0.0

    @property
    def least_share(self) -> float:
        """The share of the time from which on calls on input are worth a finding."""
        return LEAST_SHARE if self.slow_share > CACHED else LEAST_CACHED_SHARE

    @cached_property
    def streamed_share(self) -> float:
        """Share of the bytes that are read in large parts, in order."""
        places = self.pipeline.chosen[self.pipeline.kind == KIND["read"]]
        return streamed_share(self.segments, places, len(self.files))

    @cached_property
    def output(self) -> OutputCalls:
        """The job's writes."""
        return output_calls(self.segments, self.windows, self.loop_thread)

    def paths_of(self, rows: Array, most: int = 5) -> tuple[str, ...]:
        """Gives the paths of some rows of the file table."""
        return tuple(str(path) for path in self.files.rows["path"].iloc[rows[:most].tolist()])

    def seconds(self, calls: CallGroup) -> float:
        """Gives what a unit's pipeline, and its loop, spend in calls."""
        return self.pipeline_s(calls.beside_s) + calls.within_s / self.model.units

    @cached_property
    def input_calls(self) -> CallGroup:
        """All calls on input files."""
        return self.group(*self.calls)

    def pipeline_s(self, thread_s: float) -> float:
        """Gives what so much time in the pipeline's calls is of P: seconds of a unit."""
        return thread_s / self.model.readers / self.model.units

    def gain(
        self,
        low_s: float,
        expected_s: float,
        high_s: float,
        *,
        stall_s: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Gain:
        """Makes a gain, within what is waited for; its lower bound is 0 where nobody knows whether it is.

        Args:
            low_s: Lower bound of what a unit's pipeline time P is shorter by.
            expected_s: What it is expected to be shorter by.
            high_s: Upper bound.
            stall_s: The same three of what the training loop itself need not stand still for any more.
        """
        model = self.model
        low, expected, high = (
            min(model.saved_s(pipeline), most * model.most_wait_s) + loop
            for pipeline, loop, most in zip((low_s, expected_s, high_s), stall_s, MOST_OF_WAIT, strict=True)
        )
        if not model.certain:
            low = stall_s[0]
        # Steps are not equally long: a run that changes nothing differs by so much, too.
        noise_s = NOISE * model.unit_s
        low = max(0.0, min(low, expected) - noise_s)
        return Gain(model.unit, model.unit_s, low, expected, max(high, expected) + noise_s)

    def without(self, calls: CallGroup, low: float, expected: float, high: float) -> tuple[Gain, float]:
        """Gives the gain when such shares of calls are not made, and what of it is no input wait.

        At most, the time in which readers wait for each other shrinks as the calls do.
        """
        pipeline, loop = self.pipeline_s(calls.beside_s), calls.within_s / self.model.units
        share = calls.beside_s / self.input_calls.beside_s if self.input_calls.beside_s > 0 else 0.0
        gain = self.gain(
            low * pipeline,
            expected * pipeline,
            high * (pipeline + share * self.model.idle_s),
            stall_s=(low * loop, expected * loop, high * loop),
        )
        return gain, expected * loop


def measure(session: SessionData) -> Measures:
    """Measures a session.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes = session.processes
    # Arrow reads and unpacks with the interpreter's lock released.
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(summarize, session, 0)
        files = load_files(processes)
        segments = load_segments(processes, files.index)
        summary = asked.result()
    pa.default_memory_pool().release_unused()
    windows = step_windows(step_marks(processes))
    is_input = input_files(files)
    loop_thread = _loop_thread(session, segments)
    pipeline = input_pipeline(segments, is_input, windows, loop_thread)
    calls = pipeline.calls
    counts = [meta["counts"] for meta in session.meta]
    made, kept = (sum(int(count[name]) for count in counts) for name in ("events", "segments"))
    imported = "darshan" in session.meta[0]
    if imported or (len(segments) == 0 and made):
        calls = _counted(files.rows[is_input])
    elif kept < made:
        calls = {name: group.scaled(made / kept) for name, group in calls.items()}
    machine = machine_of(session.meta[0])
    return Measures(
        summary=summary,
        files=files,
        is_input=is_input,
        segments=segments,
        windows=windows,
        pipeline=pipeline,
        calls=calls,
        model=_with_device(_model(summary, windows, pipeline, calls, machine.cpu_s), processes[0], windows),
        machine=machine,
        loop_thread=loop_thread,
        imported=imported,
        trace_room=trace_room(session.meta),
    )


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


def _loop_thread(session: SessionData, segments: Segments) -> int | None:
    """Gives the owner's main thread, whose id is its process's: training loops run there."""
    owner = session.processes[0]
    for place, thread in enumerate(segments.threads):
        if thread.tid == thread.pid == owner.pid and thread.host == owner.meta["host"]:
            return place
    return None


def _counted(rows: pd.DataFrame) -> dict[str, CallGroup]:
    """Gives calls by the counters alone: times are summed over files."""
    sums = {name: float(rows[name].sum()) for name in ("reads", "bytes_read", "read_s", "meta_s")}
    others = float((rows["opens"] + rows["stats"]).sum())
    return {
        "read": CallGroup(sums["reads"], sums["bytes_read"], sums["read_s"], 0.0),
        "other": CallGroup(others, 0.0, sums["meta_s"], 0.0),
    }


def _model(
    summary: SummaryData,
    windows: StepWindows | None,
    pipeline: InputPipeline,
    calls: dict[str, CallGroup],
    cpu_s: float | None,
) -> StepModel:
    beside_s = sum(group.beside_s for group in calls.values())
    within_s = sum(group.within_s for group in calls.values())
    readers = pipeline.readers
    if not len(pipeline.chosen):
        # Without a trace of calls, each process is a reader.
        readers = dataclasses.replace(readers, readers=float(max(1, summary.processes)))
    if windows is None:
        whole_s = max(summary.duration_s, 1e-9)
        union_s = pipeline.union_s if len(pipeline.chosen) else (summary.wall_clock.read_s or beside_s)
        most_s = min(max(union_s - within_s, 0.0), whole_s)
        # What the loop's own thread does in calls is not the pipeline's.
        return StepModel(
            unit="session", units=1, unit_s=whole_s, wait_s=None, most_wait_s=most_s, overlap=0.0,
            storage_s=min(beside_s / readers.readers, whole_s), readers=readers.readers,
            busy_share=min(1.0, (beside_s + within_s) / readers.readers / whole_s),
        )  # fmt: skip
    count = len(windows.start_ns)
    unit_s = max(windows.step_s, 1e-9)
    used_s = None if cpu_s is None else cpu_s / max(summary.duration_s, 1e-9) * unit_s
    wait_s = None if windows.wait_s is None else windows.wait_s / count
    most_s = wait_s if wait_s is not None else min(unit_s, pipeline.union_s / count)
    return StepModel(
        unit="step", units=count, unit_s=unit_s, wait_s=wait_s, most_wait_s=most_s,
        overlap=pipeline.overlap, storage_s=min(beside_s / readers.readers / count, unit_s),
        readers=readers.readers,
        busy_share=min(1.0, (beside_s + within_s) / readers.readers / count / unit_s)
        if wait_s is None else readers.busy_share,
        cpu_s=used_s,
    )  # fmt: skip
