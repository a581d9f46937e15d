"""What a session's tables say of its job, and one look at its calls, as its findings take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND, kinds_of
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.analysis.steps.input_look import InputFacts, look_at_input
from tfdarshan.analysis.steps.input_pipeline import InputPipeline
from tfdarshan.analysis.steps.loader_fetches import LoaderFetches, loader_fetches
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.steps.unsaid_waits import with_waits
from tfdarshan.replay.fault_calls import FaultCalls
from tfdarshan.storage_probe.session_probes import main_mount


@dataclass(frozen=True)
class RecordedJob:
    """What the tables say.

    Attributes:
        files: What was done with each file.
        is_input: Which of them are input, bool.
        calls: All calls in order of start.
        is_loop: Whether the training loop's thread made it.
        windows: The steps, None without any.
        pipeline: What reads the input.
        facts: What a look at all calls in order says.
        fetches: When a loader's batches were put together, None if that is not known.
        faults: What the page faults among the calls stand for; None without any.
    """

    files: FileTable
    is_input: Array
    calls: Segments
    is_loop: Array
    windows: StepWindows | None
    pipeline: InputPipeline
    facts: InputFacts
    fetches: LoaderFetches | None
    faults: FaultCalls | None = None

    @cached_property
    def kinds(self) -> Array:
        """The kind of each call, a place in `CALL_KINDS`."""
        return kinds_of(self.calls)

    @property
    def is_output(self) -> Array:
        """Which calls write, or sync, files that are no input, bool."""
        written: Array = (self.kinds == KIND["write"]) | (self.kinds == KIND["sync"])
        return written & ~self.is_input[self.calls.file]

    @property
    def input_mount(self) -> str:
        """The mount that most of the time in calls on input was spent on."""
        return main_mount(self.files, self.files.rows["time_s"] * self.is_input)


def recorded_job(measured: MeasuredSession, calls: Segments) -> RecordedJob:
    """Return what was measured of a session.

    Args:
        measured: The session.
        calls: Its calls.
    """
    return RecordedJob(
        measured.files,
        measured.is_input,
        calls,
        _by_loop(measured, calls),
        measured.windows,
        measured.figures.pipeline,
        measured.facts,
        loader_fetches(measured.session.processes),
    )


def job_with_faults(measured: MeasuredSession, faults: FaultCalls) -> RecordedJob:
    """Return what a look at a session's calls gives if page faults that waited are calls, too.

    Args:
        measured: The session.
        faults: Its calls with these page faults.
    """
    files, calls, windows = faults.files, faults.calls, measured.windows
    is_input = input_files(files, measured.data_folder)
    if windows is not None and windows.wait_end_ns is None:
        windows = with_waits(windows, calls, is_input, measured.is_loop)
    pipeline, facts = look_at_input(calls.blocks, files, is_input, windows, measured.is_loop)
    by_loop, fetches = _by_loop(measured, calls), loader_fetches(measured.session.processes)
    return RecordedJob(files, is_input, calls, by_loop, windows, pipeline, facts, fetches, faults)


def _by_loop(measured: MeasuredSession, calls: Segments) -> Array:
    """Return which calls the training loop's thread made, bool."""
    return np.array([measured.is_loop(thread) for thread in calls.threads] or [False])[calls.thread]
