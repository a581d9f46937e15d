"""How much a figure may differ from run to run when nothing has changed.

Several runs of the same job tell: half the distance between the largest and the smallest. One run alone
cannot; what it can tell is how even it was. Its calls are cut, in order of time, into PARTS parts of equally
many calls, and the standard error of the parts' mean duration is taken twice. That is a lower bound, so it is
never taken to be below LEAST.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import overview_parts
from tfdarshan.analysis.calls.segments import CLASSES
from tfdarshan.comparison.measured_run import Run
from tfdarshan.comparison.metric import CALLS, STEPS, Metric

PARTS = 16
# With fewer calls the parts say nothing.
LEAST_CALLS = 4 * PARTS
LEAST_STEPS = 4
# A step that takes so many times the median is an epoch's first, or one that something held up.
SLOW_STEP = 3.0
# What is timed is taken to repeat to this share at best: the spread of throttled and emulated storage.
LEAST = 0.03


class Noise:
    """The relative noise of one side's figures; what several figures share is worked out once.

    Args:
        runs: The side's sessions.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._of_kind: dict[str, float | None] = {}

    def of(self, metric: Metric) -> float | None:
        """Return a figure's noise: 0 for what is counted, None where nothing tells."""
        if metric.noise is None:
            return 0.0
        if len(self._runs) > 1:
            return _of_values([metric.value(run) for run in self._runs])
        if metric.noise not in self._of_kind:
            self._of_kind[metric.noise] = _of_one(self._runs[0], metric.noise)
        return self._of_kind[metric.noise]


def _of_values(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    middle = float(np.median(known)) if known else 0.0
    return max((max(known) - min(known)) / 2 / middle, LEAST) if middle else None


def _of_one(run: Run, kind: str) -> float | None:
    found = _of_steps(run) if kind == STEPS else _of_calls(run, kind)
    return None if found is None else max(found, LEAST)


def _of_steps(run: Run) -> float | None:
    lasted = run.steps["step_ns"].to_numpy() if len(run.steps) else np.zeros(0)
    if len(lasted) < LEAST_STEPS:
        return None
    # An epoch's first step, which compiles or fills a buffer, is slow in every run: that is no noise.
    ordinary = lasted[lasted <= SLOW_STEP * np.median(lasted)]
    return _twice_standard_error(ordinary) if len(ordinary) >= LEAST_STEPS else None


def _of_calls(run: Run, io_class: str) -> float | None:
    count, busy_ns = _over_time(run, io_class)
    if count.sum() < LEAST_CALLS:
        return None
    # A bin belongs to the part that its middle call is in.
    middle = np.cumsum(count) - count / 2
    part = np.minimum(middle * PARTS / count.sum(), PARTS - 1).astype(int)
    calls = np.bincount(part, count, minlength=PARTS)
    spent = np.bincount(part, busy_ns, minlength=PARTS)
    return _twice_standard_error(spent[calls > 0] / calls[calls > 0])


def _over_time(run: Run, io_class: str) -> tuple[Array, Array]:
    """Return calls and their thread time by moment, of all processes, in order of time."""
    moments, counts, busy = [np.zeros(0, np.int64)], [np.zeros(0)], [np.zeros(0)]
    for part in overview_parts(run.processes):
        chosen = (
            np.full(len(part.count), True) if io_class == CALLS else part.io_class == CLASSES.index(io_class)
        )
        moments.append(part.start_ns[chosen])
        counts.append(part.count[chosen])
        busy.append(part.busy_ns[chosen])
    order = np.argsort(np.concatenate(moments), kind="stable")
    count, spent = np.concatenate(counts)[order], np.concatenate(busy)[order]
    return count, spent


def _twice_standard_error(values: Array) -> float | None:
    mean = float(values.mean()) if len(values) else 0.0
    if len(values) < 2 or mean <= 0:
        return None
    return float(2 * values.std(ddof=1) / len(values) ** 0.5 / mean)
