"""What to record instead, in the words of the way in which the session was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from tfdarshan.options import flag
from tfdarshan.sessions.process_role import INTERPRETER

MARK_STEPS = (
    "mark steps{} with `with tfdarshan.step() as step:` and the request for a batch with "
    "`with step.input_wait():`, and record again"
)
# Steps are recorded of the process alone that the session began in.
IN_WORKERS = (
    "If processes that the job starts do the training, record those in place of the main process, with "
    "`with tfdarshan.profile(logdir):` around the training loop"
)
RUN_IT = "record the job with `tfdarshan run`"


@dataclass(frozen=True)
class CaptureMode:
    """How a session was recorded.

    Attributes:
        started_by: What the metadata says: "run", "profile", "keras", "tensorflow"; "" for older sessions;
            "darshan" for a log of Darshan's.
        options: The session's options, as they are in the metadata.
        uses_tensorflow: Whether the job has loaded TensorFlow.
        is_python: Whether Python runs the job, so that tfdarshan can record it.
        has_workers: Whether the job has worker processes, and its main process takes no batches from them.
    """

    started_by: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    uses_tensorflow: bool = False
    is_python: bool = True
    has_workers: bool = False

    def spelled(self, **options: Any) -> str:
        """Word options: `--trace-memory-mb 512`, or `trace_memory_mb=512 in tfdarshan.profile()`."""
        given = self._given(**options)
        return given if self.started_by == "run" else f"{given} in {self._call}()"

    def line(self, **options: Any) -> str:
        """Return the whole line that records with other options."""
        given = self._given(**options)
        if self.started_by == "run":
            return f"tfdarshan run {given} SCRIPT"
        if self.started_by == "tensorflow":
            return f"{self._call}({given})"
        call = f"{self._call}(logdir, {given})"
        return call if self.started_by == "keras" else f"with {call}:"

    def _given(self, **options: Any) -> str:
        if self.started_by == "run":
            return " ".join(flag(name, value) for name, value in options.items())
        return ", ".join(f"{name}={value!r}" for name, value in options.items())

    @property
    def _call(self) -> str:
        """The function whose options are those of a session."""
        return {"keras": "IOCallback", "tensorflow": "tfdarshan.enable"}.get(
            self.started_by, "tfdarshan.profile"
        )

    @property
    def why_no_step(self) -> str:
        """Why a session has no steps."""
        if self.started_by == "darshan":
            return "a Darshan log has no steps"
        return "no step was recorded" if self.without_profiler else "no step was marked"

    @property
    def without_profiler(self) -> bool:
        """Whether TensorFlow's profiler would have told steps, and was switched off."""
        return self.uses_tensorflow and self.options.get("tf_profiler", "auto") is False

    @property
    def to_see_waits(self) -> str:
        """Describe how to record what steps wait for; "" if nothing can."""
        if self.started_by == "darshan":
            return self.to_see_more
        if not self.without_profiler:
            marks = MARK_STEPS.format(self._where)
            return f"{marks}. {IN_WORKERS}" if self.has_workers else marks
        default = self.spelled(tf_profiler="auto")
        return f"record with TensorFlow's profiler, as {default} does"

    @property
    def to_mark_steps(self) -> str:
        """Describe how to record steps; "" if nothing can."""
        if self.started_by == "darshan":
            return self.to_see_more
        return f"mark steps{self._where} with tfdarshan.step()"

    @property
    def _where(self) -> str:
        """Where the job's code is."""
        return " in the script" if self.started_by == "run" else ""

    @property
    def fewer_steps(self) -> str:
        """Describe the option that records a part of the steps."""
        by_batches = self.started_by == "keras"
        return "`IOCallback(logdir, batches=(100, 200))`" if by_batches else "`tfdarshan run --steps 100-200`"

    @property
    def to_keep_calls(self) -> str:
        """Describe how to record single calls."""
        return "record without --no-trace" if self.started_by == "run" else "record with trace=True"

    @property
    def to_see_more(self) -> str:
        """Describe how to record what no log of Darshan's has; "" if nothing can."""
        return RUN_IT if self.is_python else ""

    @property
    def to_leave_files_out(self) -> str:
        """Describe how to leave files out."""
        return "--exclude PATTERN" if self.started_by == "run" else "exclude=[...]"


def is_python(command: str) -> bool:
    """Return whether Python runs a command line, whose words have blanks between them."""
    program = command.split(maxsplit=1)[:1]
    return any(INTERPRETER.match(PurePosixPath(name).name) for name in program)
