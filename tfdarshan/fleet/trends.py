"""What file systems cost from week to week, and since when one costs more, or less.

A job's cost is what a call or a byte took on a mount, over what its application's jobs take there in the
median: weeks with other applications are no change. Weeks are compared by the medians of their jobs. A change
is where they go to another level, with enough weeks and jobs on both sides; its day is where the jobs around
it part best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.fleet.change_points import MAD_SCALE, MEDIAN_ERROR, change_points
from tfdarshan.fleet.job_table import UNKNOWN, JobTable
from tfdarshan.native.spool_reader import Array

DAY_S = 86_400
# 1970-01-01 was a Thursday: weeks begin on Mondays, UTC.
MONDAY = 4
# What a job has to do on a mount to tell its cost; jobs of a week; weeks and jobs on each side of a change.
LEAST_CALLS, LEAST_BYTES = 10, 1_000_000
LEAST_OF_WEEK, LEAST_WEEKS, LEAST_JOBS = 4, 3, 20
# Of an application with fewer jobs nobody knows what is usual.
LEAST_OF_APPLICATION = 5
# What differs less is no change.
LEAST_RATIO = 1.2
AROUND_DAYS = 10
GIGABYTE = 1e9
FIGURES = {
    "call_s": "opens and stats",
    "read_s_per_gb": "reads",
    "write_s_per_gb": "writes",
}


@dataclass(frozen=True)
class Week:
    """One week of a mount: its Monday, how many jobs tell, and their median, in seconds."""

    monday: str
    jobs: int
    median: float


@dataclass(frozen=True)
class Trend:
    """A figure of a mount from week to week.

    Attributes:
        mount_point: The mount.
        fs_type: Its file system.
        figure: One of FIGURES: seconds of an open or stat, or of a gigabyte.
        weeks: Those with enough jobs.
    """

    mount_point: str
    fs_type: str
    figure: str
    weeks: tuple[Week, ...]


@dataclass(frozen=True)
class Change:
    """A file system that costs more, or less, since a day.

    Attributes:
        mount_point: The mount.
        fs_type: Its file system.
        figure: What costs more: one of FIGURES.
        what: That in words.
        since: The first day, ISO 8601.
        ratio: How many times as much it costs since: above 1 is worse.
        low: A bound of it, two standard errors of the median away.
        high: The other.
        before_s: What it cost in the median before: seconds of a call, or of a gigabyte.
        after_s: What it costs since.
        jobs_before: Jobs that tell, until the change before it.
        jobs_after: Jobs that tell, until the next change.
        extra_process_hours: What that costs more than before, over all jobs since; below 0 is saved.
    """

    mount_point: str
    fs_type: str
    figure: str
    what: str
    since: str
    ratio: float
    low: float
    high: float
    before_s: float
    after_s: float
    jobs_before: int
    jobs_after: int
    extra_process_hours: float


@dataclass(frozen=True)
class _Series:
    """Jobs of one mount that tell a figure, by start: days since 1970, logarithms, and what they did."""

    day: Array
    cost: Array
    own: Array
    amount: Array


def find_trends(jobs: JobTable) -> tuple[list[Trend], list[Change]]:
    """Return the weeks of each mount, and the changes, those that cost most first."""
    trends, changes = [], []
    for point, fs_type, figure, series in _all_series(jobs):
        weeks, medians, sizes = _weeks(series.day, series.own)
        if not len(weeks):
            continue
        at = tuple(
            Week(_iso(int(week) * 7 + MONDAY), int(size), float(np.exp(median)))
            for week, size, median in zip(weeks, sizes, medians, strict=True)
        )
        trends.append(Trend(point, fs_type, figure, at))
        changes += _changes(point, fs_type, figure, series)
    return trends, sorted(changes, key=lambda change: -abs(change.extra_process_hours))


def _all_series(jobs: JobTable) -> Iterator[tuple[str, str, str, _Series]]:
    mounts = jobs.mounts
    application = jobs.rows["application"].astype(object).fillna(UNKNOWN).to_numpy()[mounts["job"].to_numpy()]
    calls = mounts["opens"].to_numpy(float) + np.nan_to_num(mounts["stats"].to_numpy(float))
    read, written = (mounts[name].to_numpy(float) for name in ("bytes_read", "bytes_written"))
    figures = (
        ("call_s", mounts["meta_s"].to_numpy(float), calls, LEAST_CALLS, 1.0),
        ("read_s_per_gb", mounts["read_s"].to_numpy(float), read, LEAST_BYTES, GIGABYTE),
        ("write_s_per_gb", mounts["write_s"].to_numpy(float), written, LEAST_BYTES, GIGABYTE),
    )
    start_s = mounts["start_s"].to_numpy(float)
    began = np.isfinite(start_s)
    names = mounts[["mount_point", "fs_type"]].astype(object).fillna(UNKNOWN)
    for (point, fs_type), rows in names.groupby(["mount_point", "fs_type"], sort=True).indices.items():
        for figure, seconds, amount, least, unit in figures:
            told = rows[(amount[rows] >= least) & (seconds[rows] > 0) & began[rows]]
            if len(told) < LEAST_OF_WEEK:
                continue
            told = told[np.argsort(start_s[told], kind="stable")]
            own = np.log(seconds[told] / amount[told] * unit)
            cost = _over_applications(own, application[told])
            day = np.floor(start_s[told] / DAY_S).astype(np.int64)
            yield str(point), str(fs_type), figure, _Series(day, cost, own, amount[told] / unit)


def _over_applications(own: Array, application: Any) -> Array:
    """Take off what an application's jobs cost in the median, and put the median of all in its place."""
    cost: Array = own.copy()
    middle = float(np.median(own))
    for places in pd.Series(np.arange(len(own))).groupby(pd.Series(application), sort=False).indices.values():
        usual = float(np.median(own[places])) if len(places) >= LEAST_OF_APPLICATION else middle
        cost[places] += middle - usual
    return cost


def _weeks(day: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return the weeks with enough jobs, the medians of their jobs, and how many these are."""
    week = (day - MONDAY) // 7
    known, first, sizes = np.unique(week, return_index=True, return_counts=True)
    medians = np.array([np.median(values[f : f + n]) for f, n in zip(first, sizes, strict=True)])
    enough = sizes >= LEAST_OF_WEEK
    return known[enough], medians[enough], sizes[enough]


def _changes(point: str, fs_type: str, figure: str, series: _Series) -> list[Change]:
    """Find the changes of one series: each in what is left between others."""
    days = _places(series.day, series.cost)
    found = []
    edges = [0, *days, len(series.day)]
    for before, here, after in zip(edges, edges[1:], edges[2:], strict=False):
        one, two = series.cost[before:here], series.cost[here:after]
        difference = float(np.median(two) - np.median(one))
        error = float(np.hypot(_median_error(one), _median_error(two)))
        if abs(difference) < np.log(LEAST_RATIO):
            continue
        ratio = float(np.exp(difference))
        spent_s = float((np.exp(series.own[here:after]) * series.amount[here:after]).sum())
        found.append(
            Change(
                point,
                fs_type,
                figure,
                FIGURES[figure],
                _iso(int(series.day[here])),
                ratio,
                float(np.exp(difference - 2 * error)),
                float(np.exp(difference + 2 * error)),
                float(np.exp(np.median(series.own[before:here]))),
                float(np.exp(np.median(series.own[here:after]))),
                len(one),
                len(two),
                spent_s * (1 - 1 / ratio) / 3600,
            )
        )
    return found


def _places(day: Array, cost: Array) -> list[int]:
    """Return the places of the first jobs at another level; each side has enough jobs."""
    weeks, medians, _sizes = _weeks(day, cost)
    at = change_points(medians, LEAST_WEEKS, float(np.log(LEAST_RATIO)))
    edges = [0, *(int(np.searchsorted(day, int(weeks[week]) * 7 + MONDAY)) for week in at), len(day)]
    found: list[int] = []
    for number, week in enumerate(at):
        part = slice(edges[number], edges[number + 2])
        around = (int(weeks[week - 1]), int(weeks[week]))
        place = edges[number] + _best_day(day[part], cost[part], around)
        if min(place - (found or [0])[-1], edges[number + 2] - place) >= LEAST_JOBS:
            found.append(place)
    return found


def _best_day(day: Array, cost: Array, weeks: tuple[int, int]) -> int:
    """Return the place at which jobs around the change part best into two levels, between two days."""
    first, last = weeks[0] * 7 + MONDAY, weeks[1] * 7 + MONDAY
    one = float(np.median(cost[day < first + 7]))
    two = float(np.median(cost[day >= last]))
    days = np.unique(day[(day >= first - AROUND_DAYS + 7) & (day <= last + AROUND_DAYS)])
    places = np.searchsorted(day, days)
    off_one = np.concatenate([[0.0], np.cumsum(np.abs(cost - one))])
    off_two = np.concatenate([[0.0], np.cumsum(np.abs(cost - two))])
    off = off_one[places] + off_two[-1] - off_two[places]
    return int(places[np.argmin(off)]) if len(places) else int(np.searchsorted(day, last))


def _median_error(values: Array) -> float:
    deviation = MAD_SCALE * float(np.median(np.abs(values - np.median(values))))
    return MEDIAN_ERROR * deviation / float(np.sqrt(len(values)))


def _iso(day: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(days=day)).strftime("%Y-%m-%d")
