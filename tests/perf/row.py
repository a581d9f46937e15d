"""One measured figure: the median of several runs, their spread, and what it is compared with."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.perf.timing import Timing


@dataclass(frozen=True)
class Row:
    """A line of a table.

    `low` and `high` are the quartiles of `runs` runs; `base` is the median without recording, `ratio` the
    median of with / without, `cpu` the median of what is added to the calling threads' CPU time; `wanted` is
    the most that the value should be. What does not apply is None.
    """

    group: str
    name: str
    subject: str
    unit: str
    value: float
    low: float
    high: float
    runs: int
    base: float | None = None
    ratio: float | None = None
    cpu: float | None = None
    wanted: float | None = None
    note: str = ""


def single_row(
    group: str,
    name: str,
    unit: str,
    values: Sequence[float],
    *,
    subject: str = "tfdarshan",
    wanted: float | None = None,
    note: str = "",
) -> Row:
    """Return the row of a figure that has no counterpart without recording."""
    low, high = quartiles(values)
    return Row(
        group,
        name,
        subject,
        unit,
        statistics.median(values),
        low,
        high,
        len(values),
        wanted=wanted,
        note=note,
    )


def added_row(
    group: str,
    name: str,
    pairs: Sequence[tuple[Timing, Timing]],
    *,
    subject: str,
    wanted: float | None = None,
) -> Row:
    """Return the row of what recording adds; a pair is (without, with), measured one after the other."""
    added = [recorded.wall_ns - plain.wall_ns for plain, recorded in pairs]
    low, high = quartiles(added)
    return Row(
        group,
        name,
        subject,
        "ns",
        statistics.median(added),
        low,
        high,
        len(pairs),
        base=statistics.median(plain.wall_ns for plain, _ in pairs),
        ratio=statistics.median(recorded.wall_ns / plain.wall_ns for plain, recorded in pairs),
        cpu=statistics.median(recorded.cpu_ns - plain.cpu_ns for plain, recorded in pairs),
        wanted=wanted,
    )


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the lower and upper quartile; both are the value where there is only one."""
    if len(values) == 1:
        return values[0], values[0]
    lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
    return lower, upper
