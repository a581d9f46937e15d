"""The figures that sessions are compared by, listed in METRICS.

They are what the Compare view shows and what conditions of `--fail-if` name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tfdarshan.analysis.files.rereads import rereads
from tfdarshan.analysis.steps.step_time import StepSummary, step_summary
from tfdarshan.comparison.measured_run import Run
from tfdarshan.errors import ConfigurationError, meant
from tfdarshan.units import human_bytes, human_seconds, percent

SECONDS, BYTES, RATE, COUNT, DEPTH, RATIO, SHARE = "s", "B", "B/s", "", "calls", "x", "share"
# What a figure's noise is that of: calls of a class, all calls, steps. A count has none.
READS, WRITES, META, CALLS, STEPS = "read", "write", "meta", "all", "steps"
LESS, MORE = "less", "more"


@dataclass(frozen=True)
class Metric:
    """One figure of a session.

    Attributes:
        name: What `--fail-if` calls it.
        label: What people read.
        unit: SECONDS, BYTES, RATE, COUNT, DEPTH, RATIO or SHARE.
        value: Gives it; None where the session does not say.
        noise: Where its noise is estimated from, None for what is counted.
        better: LESS or MORE, None where neither is.
        about: What it is, in a few words.
    """

    name: str
    label: str
    unit: str
    value: Callable[[Run], float | None]
    noise: str | None
    better: str | None
    about: str

    @property
    def is_timed(self) -> bool:
        """Whether it depends on how long something took, which other programs disturb."""
        return self.unit in (SECONDS, RATE)

    def worded(self, value: float | None) -> str:
        """Word a value of it."""
        if value is None:
            return "-"
        if self.unit in (BYTES, RATE):
            return human_bytes(value) + self.unit[1:]
        if self.unit == SECONDS:
            return human_seconds(value)
        if self.unit == SHARE:
            return percent(value, 1.0)
        if self.unit == DEPTH:
            return f"{value:.2f} {self.unit}"
        return f"{value:.2f}{self.unit}" if self.unit == RATIO else f"{value:,.0f}"


def find_metric(name: str) -> Metric:
    """Return the metric of that name.

    Raises:
        ConfigurationError: There is none; the message names what is near.
    """
    for metric in METRICS:
        if metric.name == name:
            return metric
    names = [metric.name for metric in METRICS]
    near = [known for known in names if name in known][:3]
    hint = meant(name, names, f"take one of {', '.join(names)}.")
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    raise ConfigurationError(f"there is no metric {name!r}: {hint}")


def _read_bytes(run: Run) -> int:
    return run.summary.bytes_read


def _written_bytes(run: Run) -> int:
    return run.summary.bytes_written


def _calls(run: Run, name: str, copies: str = "") -> int:
    data = run.summary
    counted = [getattr(module, name) or 0 for module in (data.posix, data.stdio)]
    return sum(counted) + data.copies.get(copies, 0)


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _steps(run: Run) -> StepSummary | None:
    return step_summary(run.steps) if len(run.steps) else None


def _of_steps(run: Run, name: str) -> float | None:
    steps = _steps(run)
    return None if steps is None else getattr(steps, name)


def _passes(run: Run) -> float | None:
    found = rereads(run.files)
    return found.passes if found.size_bytes else None


def _failures(run: Run) -> int | None:
    if run.summary.not_known:  # a Darshan log
        return None
    return sum(sum(failure.calls.values()) for failure in run.summary.failures)


METRICS = (
    Metric(
        "duration",
        "duration",
        SECONDS,
        lambda run: run.summary.duration_s,
        CALLS,
        LESS,
        "from the session's start to its end",
    ),
    Metric(
        "step_time",
        "time of a step",
        SECONDS,
        lambda run: _of_steps(run, "step_s"),
        STEPS,
        LESS,
        "from the first step's start to the last one's end, over their number",
    ),
    Metric(
        "input_wait",
        "input wait of a step",
        SECONDS,
        lambda run: _of_steps(run, "step_wait_s"),
        STEPS,
        LESS,
        "mean time a step waited for its batch",
    ),
    Metric(
        "input_wait_share",
        "input wait, of step time",
        SHARE,
        lambda run: _of_steps(run, "input_wait_share"),
        STEPS,
        LESS,
        "time waiting for input over step time, 0 to 1",
    ),
    Metric(
        "io_time",
        "time in I/O",
        SECONDS,
        lambda run: run.summary.wall_clock.io_s,
        CALLS,
        LESS,
        "wall clock: at least one call was running",
    ),
    Metric(
        "read_time",
        "time in reads",
        SECONDS,
        lambda run: run.summary.wall_clock.read_s,
        READS,
        LESS,
        "wall clock: at least one read was running",
    ),
    Metric(
        "write_time",
        "time in writes",
        SECONDS,
        lambda run: run.summary.wall_clock.write_s,
        WRITES,
        LESS,
        "wall clock: at least one write or sync was running",
    ),
    Metric(
        "metadata_time",
        "time in open, stat, close",
        SECONDS,
        lambda run: run.summary.wall_clock.meta_s,
        META,
        LESS,
        "wall clock: at least one such call was running",
    ),
    Metric(
        "thread_time",
        "thread time in calls",
        SECONDS,
        lambda run: run.summary.wall_clock.thread_s,
        CALLS,
        None,
        "the durations of all calls, added up over threads",
    ),
    Metric(
        "queue_depth",
        "queue depth",
        DEPTH,
        lambda run: _ratio(run.summary.wall_clock.thread_s, run.summary.wall_clock.io_s),
        CALLS,
        None,
        "thread time over time in I/O",
    ),
    Metric("bytes_read", "bytes read", BYTES, _read_bytes, None, LESS, "what reads and copies returned"),
    Metric(
        "bytes_written", "bytes written", BYTES, _written_bytes, None, LESS, "what writes and copies took"
    ),
    Metric(
        "read_bandwidth",
        "read bandwidth",
        RATE,
        lambda run: _ratio(_read_bytes(run), run.summary.wall_clock.read_s),
        READS,
        MORE,
        "bytes read over time in reads",
    ),
    Metric(
        "write_bandwidth",
        "write bandwidth",
        RATE,
        lambda run: _ratio(_written_bytes(run), run.summary.wall_clock.write_s),
        WRITES,
        MORE,
        "bytes written over time in writes",
    ),
    Metric(
        "files", "files", COUNT, lambda run: run.summary.files, None, None, "files with at least one call"
    ),
    Metric("calls", "calls", COUNT, lambda run: run.summary.calls, None, LESS, "all recorded calls"),
    Metric("opens", "opens", COUNT, lambda run: _calls(run, "opens"), None, LESS, "opens that succeeded"),
    Metric("reads", "reads", COUNT, lambda run: _calls(run, "reads", "reads"), None, LESS, "read calls"),
    Metric(
        "zero_length_reads",
        "zero-length reads",
        COUNT,
        lambda run: run.summary.posix.zero_length_reads,
        None,
        LESS,
        "reads that returned nothing: probes for the end of a file",
    ),
    Metric("writes", "writes", COUNT, lambda run: _calls(run, "writes", "writes"), None, LESS, "write calls"),
    Metric("stats", "stats", COUNT, lambda run: run.summary.posix.stats, None, LESS, "stat and its like"),
    Metric(
        "syncs", "syncs and flushes", COUNT, lambda run: _calls(run, "syncs"), None, LESS, "fsync, fflush"
    ),
    Metric(
        "failures",
        "failed calls",
        COUNT,
        _failures,
        None,
        LESS,
        "calls that returned an error",
    ),
    Metric(
        "passes",
        "passes over files",
        RATIO,
        _passes,
        None,
        None,
        "bytes read over the size of the files read",
    ),
    Metric(
        "storage_bytes_read",
        "from storage (read_bytes)",
        BYTES,
        lambda run: run.summary.coverage.read.storage,
        None,
        None,
        "what the kernel fetched from the machine's own storage meanwhile",
    ),
)
