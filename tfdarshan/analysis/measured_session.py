"""One session, measured once: what findings, staging, what-if, fleet and reports all ask.

Its tables are read, and its calls are looked at in order of start. Who asks for other steps, or for input by
another folder, measures anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.analysis_cache import analysis_cache, nothing_kept
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.pass_bytes import known_pass_bytes
from tfdarshan.analysis.calls.segments import Thread
from tfdarshan.analysis.calls.session_calls import SessionCalls
from tfdarshan.analysis.calls.trace_span import dropped_calls
from tfdarshan.analysis.calls.wall_clock import WallClock, measure_wall_clock
from tfdarshan.analysis.files.file_table import FileTable, load_files
from tfdarshan.analysis.files.input_files import input_files, own_files
from tfdarshan.analysis.files.rereads import Rereads, rereads
from tfdarshan.analysis.input_figures import InputFigures, loop_thread, measure_input
from tfdarshan.analysis.steps.batch_requests import with_requests
from tfdarshan.analysis.steps.input_look import InputFacts, look_at_input
from tfdarshan.analysis.steps.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.steps.step_windows import StepWindows, step_windows
from tfdarshan.analysis.steps.unsaid_waits import with_waits
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.sessions.analysis_cache_file import AnalysisCache
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.step_table import FROM_TRACE
from tfdarshan.thresholds import THRESHOLD


@dataclass(frozen=True, eq=False)
class MeasuredSession:
    """What the tables of a session say; its calls are looked at when somebody first asks what they say.

    Attributes:
        session: The session, or a process of it.
        files: One row per path.
        is_input: Which of its rows are input, bool.
        marked: The steps that it is judged by as they were marked, None if there are none.
        epochs_s: Time from the first step's start to the last one's end, None if epochs take all time.
        calls: All calls that have a segment.
        is_loop: Whether a thread runs the training loop.
        kept: What looks at all calls gave, for the next reader.
        runner: What reads the calls of several processes for the time in I/O; None: this process.
        data_folder: What is below this folder is input, whatever its name; None: nothing.
    """

    session: SessionData
    files: FileTable
    is_input: Array
    marked: StepWindows | None
    epochs_s: float | None
    calls: SessionCalls
    is_loop: Callable[[Thread], bool]
    kept: AnalysisCache
    runner: Runner | None = None
    data_folder: str | None = None

    @cached_property
    def windows(self) -> StepWindows | None:
        """The steps that it is judged by, with their waits as far as anything tells them."""
        marked = self.marked
        if marked is None or marked.wait_end_ns is not None:
            return marked
        return self.kept.get("waits", lambda: self._waiting(marked))

    def _waiting(self, marked: StepWindows) -> StepWindows:
        calls = self.calls.in_memory
        return marked if calls is None else with_waits(marked, calls, self.is_input, self.is_loop)

    @cached_property
    def clock(self) -> WallClock:
        """Its times.

        Raises:
            SessionDataError: A table is damaged or missing, as for all that follow.
        """
        processes, kept = self.session.processes, self.kept
        asked = len(processes) > 1 and self.runner is None and kept.find("unions") is None
        in_memory = self.calls.in_memory if asked else None
        return measure_wall_clock(processes, in_memory, self.runner or SERIAL, kept=kept)

    @cached_property
    def figures(self) -> InputFigures:
        """The input, within the steps."""
        return self._figures_of(self._look[0], self.windows)

    @property
    def facts(self) -> InputFacts:
        """What the look that measures the input gives besides."""
        return self._look[1]

    @cached_property
    def epoch_figures(self) -> InputFigures:
        """The input over the time that epochs are counted in.

        These are all calls if the steps do not last as long: some were left out, or TensorFlow's trace ended
        before the session did.
        """
        if self.windows is None or self.windows.span_s == self.epochs_s:
            return self.figures
        sizes = self.files.rows["size_bytes"].to_numpy()
        pipeline = self.kept.get(
            "input_of_all_time",
            lambda: input_pipeline(self.calls.blocks, sizes, self.is_input, None, self.is_loop),
        )
        return self._figures_of(pipeline, None)

    @cached_property
    def pass_bytes(self) -> Array | None:
        """What a pass over each file moves, by row, 0 where not all of its reads say where they lie.

        None where there are no calls, or more than are kept in memory.
        """
        return self.kept.get("pass_bytes", self._known_pass_bytes)

    def _known_pass_bytes(self) -> Array | None:
        calls = self.calls.in_memory
        if calls is None or not len(calls):
            return None
        return known_pass_bytes(calls, self.files.rows["bytes_read"].to_numpy())

    def _figures_of(self, pipeline: InputPipeline, windows: StepWindows | None) -> InputFigures:
        processes = self.session.processes
        return measure_input(
            processes, self.files, self.is_input, pipeline, windows, self.clock, self.pass_bytes
        )

    @cached_property
    def _look(self) -> tuple[InputPipeline, InputFacts]:
        return self.kept.get("input", self._looked_at)

    def _looked_at(self) -> tuple[InputPipeline, InputFacts]:
        files, is_input = self.files, self.is_input
        return look_at_input(
            self.calls.blocks,
            files,
            is_input,
            self.windows,
            self.is_loop,
            _input_bytes(self.session, rereads(files, is_input, self.pass_bytes)),
            _own_files(files, is_input),
        )


def measure_session(
    session: SessionData,
    *,
    stepped: SessionData | None = None,
    data_folder: str | None = None,
    runner: Runner | None = None,
    files: FileTable | None = None,
) -> MeasuredSession:
    """Measure a session.

    Args:
        session: The session.
        stepped: Whose steps count, if `session` is a single process of it; by default its own.
        data_folder: What is below this folder is input, whatever its name, as the file table spells it.
        runner: What reads the calls of several processes for the time in I/O; None: this process.
        files: Its file table, if it was read already.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    stepped = stepped or session
    files = load_files(session.processes) if files is None else files
    is_input = input_files(files, data_folder)
    pa.default_memory_pool().release_unused()
    usual = stepped is session and (data_folder is None or bool((is_input == input_files(files)).all()))
    return MeasuredSession(
        session=session,
        files=files,
        is_input=is_input,
        marked=with_requests(step_windows(stepped.step_bounds), stepped.processes[0]),
        epochs_s=_epochs_s(stepped),
        calls=SessionCalls(session.processes, files.index),
        is_loop=loop_thread(stepped.processes[0]),
        kept=analysis_cache(session) if usual else nothing_kept(session),
        runner=runner,
        data_folder=data_folder,
    )


def _input_bytes(session: SessionData, found: Rereads) -> float | None:
    """Return what the input has in bytes, if it was read several times and no call is missing; else None."""
    known = found.passes >= THRESHOLD["again"] and not dropped_calls(session.meta)
    return float(found.unique_bytes) if known else None


def _own_files(files: FileTable, is_input: Array) -> Array | None:
    """Return which files the job made itself on the input's storage, bool; None without any."""
    mount = files.rows["mount_point"].cat.codes.to_numpy()
    own: Array = own_files(files) & np.isin(mount, np.unique(mount[is_input]))
    return own if own.any() else None


def _epochs_s(session: SessionData) -> float | None:
    """Return the time from a session's first step to its last one, None if they do not last to its end."""
    steps, owner = session.step_bounds, session.meta[0]
    if len(steps) == 0 or owner.get("steps", {}).get("left_out"):
        return None
    if (steps["source"] == FROM_TRACE).any() and _trace_ended_early(owner):
        return None
    return float(steps["end_ns"].max() - steps["start_ns"].min()) / 1e9


def _trace_ended_early(owner: dict[str, Any]) -> bool:
    """Say whether TensorFlow's trace ended before the session's last call."""
    end_ns = owner.get("tensorflow", {}).get("end_ns") or 0
    return 0 < int(end_ns) < int(owner["time"].get("last_event_ns") or 0)
