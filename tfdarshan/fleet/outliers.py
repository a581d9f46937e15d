"""Users that stand out: so much more of one kind of call than others that they alone are much of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.fleet.job_groups import user_names
from tfdarshan.fleet.job_table import UNKNOWN, JobTable

# A user stands out with so many times the median user's rate, and such a share of all.
TIMES, SHARE = 10.0, 0.1
LEAST_USERS = 4
# What is counted, how little of it nobody minds, and what it is called.
FIGURES = {
    "stats": (100_000, "stat calls"),
    "opens": (100_000, "opens"),
    "small_reads": (1_000_000, "reads of at most 10 KiB"),
    "syncs": (100_000, "syncs"),
    "reread_bytes": (10**12, "bytes read again"),
}


@dataclass(frozen=True)
class Outlier:
    """A user who stands out.

    Attributes:
        user: Who.
        figure: Which column of the catalogue: one of FIGURES.
        what: What that is in words.
        total: How much of it the user's jobs made.
        share: What share of all that is.
        rate: For each second that the user's jobs lasted.
        typical_rate: The same of the median of the other users.
        jobs: The user's jobs.
        application: The application that makes most of it, None if unknown.
        application_share: Its share of `total`.
    """

    user: str
    figure: str
    what: str
    total: int
    share: float
    rate: float
    typical_rate: float
    jobs: int
    application: str | None
    application_share: float

    @property
    def times(self) -> float:
        """How many times the typical rate it is."""
        return self.rate / self.typical_rate if self.typical_rate > 0 else float("inf")


def find_outliers(jobs: JobTable) -> list[Outlier]:
    """Find users that stand out, those with the largest share first; none among few users.

    Jobs of users that are not known count in shares and medians, and are nobody's.
    """
    rows = jobs.rows
    users = rows["user"].where(rows["user"].notna(), user_names(rows)).astype(object)
    found = []
    for figure, (least, what) in FIGURES.items():
        values = rows[figure].fillna(0)
        sums = (
            pd.DataFrame({"total": values, "seconds": rows["duration_s"], "jobs": 1})
            .groupby(users, sort=False)
            .sum()
        )
        if len(sums) < LEAST_USERS:
            continue
        rate = sums["total"] / sums["seconds"].clip(lower=1e-9)
        whole = float(sums["total"].sum())
        for user in sums.index[(sums["total"] >= max(least, SHARE * whole)).to_numpy()]:
            if user == UNKNOWN:
                continue  # nobody, or many
            typical = float(np.median(rate.drop(user).to_numpy()))
            if rate[user] < TIMES * typical:
                continue
            mine = (users == user).to_numpy()
            name, part = _application(rows[mine], values[mine])
            found.append(
                Outlier(
                    str(user),
                    figure,
                    what,
                    int(sums["total"][user]),
                    float(sums["total"][user]) / whole,
                    float(rate[user]),
                    typical,
                    int(sums["jobs"][user]),
                    name,
                    part,
                )
            )
    return sorted(found, key=lambda outlier: -outlier.share)


def _application(rows: pd.DataFrame, values: pd.Series[float]) -> tuple[str | None, float]:
    by = values.groupby(rows["application"].astype(object), sort=False).sum()
    total = float(values.sum())
    if not len(by) or total <= 0:
        return None, 0.0
    return str(by.idxmax()), float(by.max()) / total
