"""What each training step waited for: input wait and compute, with the I/O that ran meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.step_windows import step_windows, steps_to_judge

COLUMNS = (
    "start_ns", "end_ns", "step_ns", "input_wait_ns", "compute_ns", "io_ns", "exposed_io_ns", "hidden_io_ns",
    "bytes", "operations",
)  # fmt: skip


@dataclass(frozen=True)
class StepSummary:
    """All steps together, in seconds.

    Attributes:
        steps: How many there are, of those that `steps_to_judge` gives.
        span_s: From the first one's start to the last one's end.
        input_wait_s: Of that, waiting for input, on the GPU's clock where that is known; None where steps do
            not say how long.
        cpu_wait_s: Waiting for input on the CPU's clock; None unless the GPU's clock is known of a step.
        compute_s: The rest, what is between two steps too.
        io_s: Wall-clock time in I/O within steps.
        hidden_io_s: Of `io_s`, what ran beside compute, at least.
        bytes_moved: Bytes read and written within steps.
    """

    steps: int
    span_s: float
    input_wait_s: float | None
    cpu_wait_s: float | None
    compute_s: float
    io_s: float
    hidden_io_s: float
    bytes_moved: int

    @property
    def step_s(self) -> float | None:
        """The time of a step, None without steps."""
        return self.span_s / self.steps if self.steps else None

    @property
    def step_wait_s(self) -> float | None:
        """What a step waits for input, None if unknown."""
        return self.input_wait_s / self.steps if self.steps and self.input_wait_s is not None else None

    @property
    def input_wait_share(self) -> float | None:
        """Input wait over step time, None without steps."""
        return self.input_wait_s / self.span_s if self.span_s and self.input_wait_s is not None else None


def step_times(steps: pd.DataFrame) -> pd.DataFrame:
    """Split each step's time.

    Args:
        steps: `session.steps`; or `session.step_bounds`, for which no calls are read: what they did is 0.

    Returns:
        One row per step, by its number, int64: `start_ns`, `end_ns`, `step_ns`, `input_wait_ns`,
        `compute_ns` (the rest of the step), `io_ns` (wall clock: at least one call was running); of it
        `exposed_io_ns`, which the step may have waited for: at most min(io_ns, input_wait_ns), all of it if
        the step does not say how long it waited, and
        `hidden_io_ns`, which ran beside compute: the rest, at least; `bytes`, `operations`;
        `input_wait_known` and `calls_known` (bool); `exposed_wait_ns`, the part of `input_wait_ns` in which
        the GPU was idle, and `epoch`, -1 if unknown.
    """
    start, end = _column(steps, "start_ns"), _column(steps, "end_ns")
    step = np.maximum(end - start, 0)
    wait = np.clip(_column(steps, "input_wait_ns"), 0, step)
    known = _column(steps, "input_wait_ns", -1) >= 0
    io = np.clip(_column(steps, "io_ns"), 0, step)
    # What is unknown of calls is left out; `calls_known` says so.
    read, written, calls = (
        np.maximum(_column(steps, name), 0) for name in ("bytes_read", "bytes_written", "operations")
    )
    exposed = np.minimum(io, np.where(known, wait, step))
    values = (start, end, step, wait, step - wait, io, exposed, io - exposed, read + written, calls)
    index = pd.Index(steps["step"], name="step") if "step" in steps.columns else steps.index
    named = dict(zip(COLUMNS, values, strict=True)) | {"input_wait_known": known}
    named["calls_known"] = _column(steps, "operations", -1) >= 0
    told = {name: _column(steps, name, -1) for name in ("exposed_wait_ns", "epoch")}
    return pd.DataFrame(named | told, index=index)


def step_summary(table: pd.DataFrame) -> StepSummary:
    """Add up the rows of `step_times`, by the step model's definitions of step time and input wait."""
    known = table["input_wait_known"].astype(bool)
    judged = steps_to_judge(table.assign(input_wait_ns=table["input_wait_ns"].where(known, -1)))
    windows = step_windows(judged)
    span_s, wait_s = (0.0, None) if windows is None else (windows.span_s, windows.wait_s)
    on_gpu = bool((judged["exposed_wait_ns"] >= 0).any())
    return StepSummary(
        steps=len(judged),
        span_s=span_s,
        input_wait_s=wait_s,
        cpu_wait_s=int(judged["input_wait_ns"].clip(lower=0).sum()) / 1e9 if on_gpu else None,
        compute_s=max(span_s - (wait_s or 0.0), 0.0),
        io_s=int(judged["io_ns"].sum()) / 1e9,
        hidden_io_s=int(judged["hidden_io_ns"].sum()) / 1e9,
        bytes_moved=int(judged["bytes"].sum()),
    )


def _column(steps: pd.DataFrame, name: str, otherwise: int = 0) -> Array:
    if name not in steps.columns:
        return np.full(len(steps), otherwise, np.int64)
    return steps[name].to_numpy(np.int64)


@dataclass(frozen=True)
class StepLength:
    """The time of steps.

    Attributes:
        steps: How many there are, at least one.
        median_s: The median, in seconds: a mean has the first step's compilation, and an epoch's end.
        longest_s: The longest, in seconds.
    """

    steps: int
    median_s: float
    longest_s: float


def step_length(step_ns: Array) -> StepLength:
    """Return the length of steps, of their times in ns; there is at least one."""
    return StepLength(len(step_ns), float(np.median(step_ns)) / 1e9, float(np.max(step_ns)) / 1e9)
