"""What a session's tables say of its job, and one look at its calls, as its findings take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND, kinds_of
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import Segments
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.input_figures import loop_thread
from tfdarshan.analysis.steps.input_look import InputFacts, InputLook
from tfdarshan.analysis.steps.input_pipeline import InputPipeline, input_pipeline
from tfdarshan.analysis.steps.step_windows import StepWindows, step_windows
from tfdarshan.replay.fault_calls import FaultCalls
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import step_marks
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
        faults: What the page faults among the calls stand for; None without any.
    """

    files: FileTable
    is_input: Array
    calls: Segments
    is_loop: Array
    windows: StepWindows | None
    pipeline: InputPipeline
    facts: InputFacts
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


def recorded_job(
    processes: Sequence[ProcessData],
    files: FileTable,
    calls: Segments,
    data_folder: str | None = None,
    faults: FaultCalls | None = None,
) -> RecordedJob:
    """Look at the calls of a session, and page faults on mapped files if these waited.

    Args:
        processes: The session's.
        files: Its files.
        calls: Its calls.
        data_folder: What is below it is input, whatever its name, as the file table spells it.
        faults: Its page faults; None if none waited.
    """
    files, calls = (files, calls) if faults is None else (faults.files, faults.calls)
    windows, is_loop = step_windows(step_marks(processes)), loop_thread(processes[0])
    is_input, size = input_files(files, data_folder), files.rows["size_bytes"].to_numpy()
    look = InputLook(files.rows["reads"].to_numpy(), size, windows, is_loop)
    pipeline = input_pipeline(lambda _: calls.blocks(), size, is_input, windows, is_loop, look.add)
    by_loop = np.array([is_loop(thread) for thread in calls.threads] or [False])[calls.thread]
    return RecordedJob(files, is_input, calls, by_loop, windows, pipeline, look.facts(), faults)
