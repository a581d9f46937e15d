"""What an overview of a fleet says, as data: `tfdarshan fleet --json` prints it, `fleet_text` words it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.fleet.breakdown import StepPart, step_breakdown
from tfdarshan.fleet.job_groups import JobGroup, group_jobs
from tfdarshan.fleet.job_table import JobTable
from tfdarshan.fleet.outliers import Outlier, find_outliers
from tfdarshan.fleet.population import (
    Distribution,
    Totals,
    WeekTotal,
    distributions,
    total_of,
    weekly_totals,
    worst_jobs,
)
from tfdarshan.fleet.trends import Change, Trend, find_trends


@dataclass(frozen=True)
class FleetView:
    """What is true of all jobs.

    Attributes:
        totals: Sums.
        breakdown: Where the steps went, part by part.
        distributions: How figures are spread.
        worst_jobs: Those that lose most node-hours, as `population.worst_jobs` gives them.
        groups: By what was asked for.
        outliers: Users that stand out.
        changes: File systems that cost more, or less, since a day.
        trends: What file systems cost from week to week.
        weeks: The jobs of each week.
    """

    totals: Totals
    breakdown: list[StepPart]
    distributions: list[Distribution]
    worst_jobs: list[dict[str, Any]]
    groups: dict[str, list[JobGroup]]
    outliers: list[Outlier]
    changes: list[Change]
    trends: list[Trend]
    weeks: list[WeekTotal]


def fleet_view(jobs: JobTable, top: int, by: Sequence[str]) -> FleetView:
    """Work it out: `top` jobs, and groups by each of `by`, of `job_groups.KINDS`."""
    trends, changes = find_trends(jobs)
    return FleetView(
        totals=total_of(jobs),
        breakdown=step_breakdown(jobs),
        distributions=distributions(jobs),
        worst_jobs=worst_jobs(jobs, top),
        groups={kind: group_jobs(jobs, kind) for kind in by},
        outliers=find_outliers(jobs),
        changes=changes,
        trends=trends,
        weeks=weekly_totals(jobs),
    )
