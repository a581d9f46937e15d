"""What findings read: measured once from a session, as columns and sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.call_kinds import KIND, NO_CALLS, CallGroup
from tfdarshan.analysis.file_table import FileTable, load_files
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments, load_segments
from tfdarshan.analysis.step_model import StepModel
from tfdarshan.analysis.step_windows import StepWindows, step_windows
from tfdarshan.findings.finding import Gain
from tfdarshan.machine import Machine, machine_of
from tfdarshan.staging.time_model import TimeModel, fit_time_model
from tfdarshan.step_table import step_marks
from tfdarshan.summary_data import SummaryData, summarize

if TYPE_CHECKING:
    from tfdarshan.session import Session

# A finding that costs a smaller share of the time is none.
LEAST_SHARE = 0.02
FIT_AT_MOST = 200_000


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

    @property
    def traced(self) -> bool:
        """Whether calls have segments: what single calls took is known."""
        return len(self.segments) > 0

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
    def input_calls(self) -> CallGroup:
        """All calls on input files."""
        return self.group(*self.calls)

    def pipeline_s(self, thread_s: float) -> float:
        """Gives what so much time in the pipeline's calls is of P: seconds of a unit."""
        return thread_s / self.model.readers / self.model.units

    def saved_s(self, calls: CallGroup) -> float:
        """Gives what a unit saves when calls are not made at all."""
        return self.model.saved_s(self.pipeline_s(calls.beside_s)) + calls.within_s / self.model.units

    def gain(self, low_s: float, expected_s: float, high_s: float, *, certain_s: float = 0.0) -> Gain:
        """Makes a gain; all bounded by what can be waited for, the lower bound 0 where nobody knows it.

        Args:
            low_s: Lower bound of what a unit's pipeline time P, or its loop, is shorter by.
            expected_s: What it is expected to be shorter by.
            high_s: Upper bound.
            certain_s: What the loop itself stood still for and will not: in all three, without a bound.
        """
        low, expected, high = (
            self.model.saved_s(seconds - certain_s) + certain_s for seconds in (low_s, expected_s, high_s)
        )
        if not self.model.certain:
            low = min(certain_s, low)
        return Gain(self.model.unit, self.model.unit_s, min(low, expected), expected, max(high, expected))


def measure(session: Session) -> Measures:
    """Measures a session.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes = session.processes
    summary = summarize(session, 0)
    files = load_files(processes)
    segments = load_segments(processes, files.index)
    pa.default_memory_pool().release_unused()
    windows = step_windows(step_marks(processes))
    is_input = input_files(files)
    pipeline = input_pipeline(segments, is_input, windows, _loop_thread(session, segments))
    calls = pipeline.calls
    counts = [meta["counts"] for meta in session.meta]
    made, kept = (sum(int(count[name]) for count in counts) for name in ("events", "segments"))
    if len(pipeline.chosen) == 0 and made:
        calls = _counted(files.rows[is_input])
    elif kept < made:
        calls = {name: group.scaled(made / kept) for name, group in calls.items()}
    return Measures(
        summary=summary,
        files=files,
        is_input=is_input,
        segments=segments,
        windows=windows,
        pipeline=pipeline,
        calls=calls,
        model=_model(summary, windows, pipeline, calls),
        machine=machine_of(session.meta[0]),
    )


def _loop_thread(session: Session, segments: Segments) -> int | None:
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
) -> StepModel:
    beside_s = sum(group.beside_s for group in calls.values())
    within_s = sum(group.within_s for group in calls.values())
    readers = pipeline.readers
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
    first, last = windows.span_ns
    unit_s = max((last - first) / 1e9 / count, 1e-9)
    wait_s = None if windows.wait_s is None else windows.wait_s / count
    most_s = wait_s if wait_s is not None else min(unit_s, pipeline.union_s / count)
    return StepModel(
        unit="step", units=count, unit_s=unit_s, wait_s=wait_s, most_wait_s=most_s,
        overlap=pipeline.overlap, storage_s=min(beside_s / readers.readers / count, unit_s),
        readers=readers.readers,
        busy_share=min(1.0, (beside_s + within_s) / readers.readers / count / unit_s)
        if wait_s is None else readers.busy_share,
    )  # fmt: skip


def typical_compute_s(windows: StepWindows | None) -> float | None:
    """Gives the median time that a step computed: a first step that compiles is not typical."""
    if windows is None or windows.wait_end_ns is None:
        return None
    return float(np.median(windows.end_ns - windows.wait_end_ns)) / 1e9
