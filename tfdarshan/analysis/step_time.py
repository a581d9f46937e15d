"""What each training step waited for: input wait and compute, with the I/O that ran meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.bandwidth import bandwidth
from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.segments import META, Segments
from tfdarshan.analysis.step_io import PARTS, MovingSpan, StepIo
from tfdarshan.analysis.step_windows import step_windows, steps_to_judge
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import time_windows
from tfdarshan.analysis.window_calls import CALLS_AT_A_TIME
from tfdarshan.partials.serial import SERIAL, Runner, answered
from tfdarshan.sessions.process_data import ProcessData

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
        input_wait_s: Of that, waiting for input; None where steps do not say how long.
        compute_s: The rest, what is between two steps too.
        io_s: Wall-clock time in I/O within steps.
        hidden_io_s: Of `io_s`, what ran beside compute, at least.
        bytes_moved: Bytes read and written within steps.
    """

    steps: int
    span_s: float
    input_wait_s: float | None
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


# Gives of steps, by their starts and ends, the time with a call running in ns, bytes moved, calls begun.
Within = Callable[[Array, Array], tuple[Array, Array, Array]]


def step_time(steps: pd.DataFrame, segments: Segments) -> pd.DataFrame:
    """Gives `step_times`, of calls that are in memory."""

    def within(start: Array, end: Array) -> tuple[Array, Array, Array]:
        io = covered(segments.start_ns, segments.end_ns).within(start, end)
        return (io, *_within(segments, start, end))

    return step_times(steps, within)


def step_times_of(
    steps: pd.DataFrame, processes: Sequence[ProcessData], runner: Runner = SERIAL
) -> pd.DataFrame:
    """Gives `step_times`; calls are read if steps do not say what ran within them.

    Raises:
        SessionDataError: A table is damaged or missing, or ends each process that reads it.
    """

    def within(start: Array, end: Array) -> tuple[Array, Array, Array]:
        windows = time_windows(processes, CALLS_AT_A_TIME)
        bins = answered(MovingSpan(), windows, runner)
        return answered(StepIo(tuple(start.tolist()), tuple(end.tolist()), bins), windows, runner)

    return step_times(steps, within)


def step_times(steps: pd.DataFrame, within: Within) -> pd.DataFrame:
    """Splits each step's time.

    Args:
        steps: One row per step: `start_ns`, `end_ns`, and where they are known `step`, `input_wait_ns` (-1 if
            unknown), `io_ns`, `bytes_read` and `bytes_written` or `bytes`, `operations`. What is missing is
            worked out from the calls; input wait cannot be, and is 0.
        within: Is asked for what ran within steps, if they do not say it.

    Returns:
        One row per step, by its number, int64: `start_ns`, `end_ns`, `step_ns`, `input_wait_ns`,
        `compute_ns` (the rest of the step), `io_ns` (wall clock: at least one call was running); of it
        `exposed_io_ns`, which the step may have waited for: at most min(io_ns, input_wait_ns), and
        `hidden_io_ns`, which ran beside compute: the rest, at least; `bytes`, `operations`;
        `input_wait_known` (bool); `epoch`, -1 if unknown.
    """
    start, end = _column(steps, "start_ns"), _column(steps, "end_ns")
    step = np.maximum(end - start, 0)
    wait = np.clip(_column(steps, "input_wait_ns", 0), 0, step)
    known = _column(steps, "input_wait_ns", -1) >= 0
    io, moved, calls = _column(steps, "io_ns", -1), _moved(steps), _column(steps, "operations", -1)
    if min(values.min(initial=0) for values in (io, moved, calls)) < 0:
        found = within(start, end)
        said = _says(steps, "io_ns")
        io = np.where(said, io, found[0])
        moved, calls = (
            np.where(values < 0, worked_out, values)
            for values, worked_out in zip((moved, calls), found[1:], strict=True)
        )
    io = np.clip(io, 0, step)
    exposed = np.minimum(io, wait)
    values = (start, end, step, wait, step - wait, io, exposed, io - exposed, moved, calls)
    index = pd.Index(steps["step"], name="step") if "step" in steps.columns else steps.index
    named = dict(zip(COLUMNS, values, strict=True)) | {"input_wait_known": known}
    return pd.DataFrame(named | {"epoch": _column(steps, "epoch", -1)}, index=index)


def step_summary(table: pd.DataFrame) -> StepSummary:
    """Adds up the rows of `step_time`, by the step model's definitions of step time and input wait."""
    known = table["input_wait_known"].astype(bool)
    judged = steps_to_judge(table.assign(input_wait_ns=table["input_wait_ns"].where(known, -1)))
    windows = step_windows(judged)
    span_s, wait_s = (0.0, None) if windows is None else (windows.span_s, windows.wait_s)
    return StepSummary(
        steps=len(judged),
        span_s=span_s,
        input_wait_s=wait_s,
        compute_s=max(span_s - (wait_s or 0.0), 0.0),
        io_s=int(judged["io_ns"].sum()) / 1e9,
        hidden_io_s=int(judged["hidden_io_ns"].sum()) / 1e9,
        bytes_moved=int(judged["bytes"].sum()),
    )


def _says(steps: pd.DataFrame, name: str) -> Array:
    """Says which steps have a figure, bool."""
    if name not in steps.columns:
        return np.zeros(len(steps), bool)
    said: Array = pd.to_numeric(steps[name]).notna().to_numpy(bool)
    return said


def _moved(steps: pd.DataFrame) -> Array:
    if {"bytes_read", "bytes_written"} <= set(steps.columns):
        read, written = _column(steps, "bytes_read", -1), _column(steps, "bytes_written", -1)
        return np.where((read < 0) | (written < 0), -1, read + written)
    return _column(steps, "bytes", -1)


def _column(steps: pd.DataFrame, name: str, otherwise: Array | int = 0) -> Array:
    missing = np.broadcast_to(np.asarray(otherwise, np.int64), (len(steps),))
    if name not in steps.columns:
        return missing
    values = pd.to_numeric(steps[name])
    return np.where(values.isna(), missing, values.fillna(0)).astype(np.int64)


def _within(segments: Segments, start: Array, end: Array) -> tuple[Array, Array]:
    """Gives bytes moved in each step, spread over each call's duration, and calls that started in it."""
    calls = np.searchsorted(segments.start_ns, end) - np.searchsorted(segments.start_ns, start)
    moving = segments.where(np.flatnonzero((segments.io_class != META) & (segments.length > 0)))
    until = _bytes_until(moving)
    return np.rint(until(end) - until(start)).astype(np.int64), calls


def _bytes_until(segments: Segments):  # type: ignore[no-untyped-def]
    """Gives a function of moments: bytes moved before each, to within one part in 65,536 of the session."""
    if len(segments) == 0:
        return lambda at_ns: np.zeros(len(at_ns))
    first, last = int(segments.start_ns[0]), int(segments.end_ns.max())
    bins = TimeBins(first, max(1, -(-(last - first) // PARTS)), PARTS)
    table = bandwidth(segments, bins)
    reached = np.concatenate([[0], np.cumsum(table["bytes_read"] + table["bytes_written"])])
    return lambda at_ns: np.interp(at_ns, bins.edges_ns(), reached)
