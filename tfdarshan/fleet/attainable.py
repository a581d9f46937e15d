"""What a faster part of the machine would save over a fleet, as a range.

A session's replay model says what its job saves. Of a job whose model is not asked, such as a Darshan log's,
the lower bound is 0. At most it gets back all that its calls would be shorter by, and no more than it waited.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.fleet.faster_parts import FasterPart
from tfdarshan.fleet.hot_folders import HotFolder, hot_folders
from tfdarshan.fleet.job_groups import user_names
from tfdarshan.fleet.job_models import Told
from tfdarshan.fleet.job_table import HOUR_S, UNKNOWN, JobTable
from tfdarshan.fleet.job_times import job_times
from tfdarshan.native.spool_reader import Array

MOST_GAINERS = 8


@dataclass(frozen=True)
class Gainer:
    """A user's jobs, and what they would save at most."""

    user: str
    jobs: int
    high_node_hours: float


@dataclass(frozen=True)
class Attainable:
    """What would be saved.

    Attributes:
        topic: What is to be faster: one of TOPICS.
        question: What was asked, in words.
        jobs: The jobs asked about.
        gaining_jobs: Those that may gain anything.
        modelled_jobs: Those of these whose replay model says what they save: the lower bound is theirs.
        nodes_unknown: Those of `gaining_jobs` whose nodes are not known.
        job_hours: What all jobs took.
        low_job_hours: What is saved of it at least.
        high_job_hours: What is saved at most.
        node_hours: What all jobs took, by their nodes.
        low_node_hours: What is saved of it at least.
        high_node_hours: What is saved at most.
        gainers: The users that may save most.
        folders: What would be staged; empty for other questions.
        assumptions: What the figures rest on.
        step_speedup: How many times as quick a step becomes if less communication is all that changes: the
            mean over `talking_jobs`, each counted once; None if there are none, or for other questions.
        talking_jobs: Those that say what their steps spend in communication.
    """

    topic: str
    question: str
    jobs: int
    gaining_jobs: int
    modelled_jobs: int
    nodes_unknown: int
    job_hours: float
    low_job_hours: float
    high_job_hours: float
    node_hours: float
    low_node_hours: float
    high_node_hours: float
    gainers: tuple[Gainer, ...]
    folders: tuple[HotFolder, ...]
    assumptions: tuple[str, ...]
    step_speedup: float | None = None
    talking_jobs: int = 0


def attainable(jobs: JobTable, part: FasterPart, told: Told) -> Attainable:
    """Return what a faster part saves; hours are below 0 for a slower one.

    Args:
        jobs: The jobs.
        part: The part.
        told: What models say of it.
    """
    times = job_times(jobs)
    low_s = np.where(told.known, told.least_s, 0.0)
    high_s = np.where(told.known, told.most_s, part.most_s(jobs)) + part.talk_s(jobs)
    folders: tuple[HotFolder, ...] = ()
    if part.room_bytes is not None:
        folders, staged, first = hot_folders(jobs.rows, high_s * times.nodes / HOUR_S, part.room_bytes)
        low_s, high_s = np.where(staged & ~first, low_s, 0.0), np.where(staged, high_s, 0.0)
    low_s, high_s = (np.minimum(each(low_s, high_s), times.duration_s) for each in (np.minimum, np.maximum))
    gaining = (low_s != 0) | (high_s != 0)
    speedup, talking = part.step_speedup(jobs)
    return Attainable(
        topic=part.topic,
        question=part.question,
        jobs=len(jobs),
        gaining_jobs=int(gaining.sum()),
        modelled_jobs=int((gaining & told.known).sum()),
        nodes_unknown=int((gaining & ~times.nodes_known).sum()),
        job_hours=_hours(times.duration_s),
        low_job_hours=_hours(low_s),
        high_job_hours=_hours(high_s),
        node_hours=_hours(times.duration_s * times.nodes),
        low_node_hours=_hours(low_s * times.nodes),
        high_node_hours=_hours(high_s * times.nodes),
        gainers=_gainers(jobs, high_s * times.nodes / HOUR_S),
        folders=folders,
        assumptions=part.assumptions,
        step_speedup=speedup,
        talking_jobs=talking,
    )


def _hours(seconds: Array) -> float:
    return float(seconds.sum()) / HOUR_S


def _gainers(jobs: JobTable, node_hours: Array) -> tuple[Gainer, ...]:
    rows = jobs.rows
    users = rows["user"].where(rows["user"].notna(), user_names(rows)).astype(object).fillna(UNKNOWN)
    frame = pd.DataFrame({"user": users, "hours": node_hours, "jobs": node_hours > 0})
    sums = frame[frame["jobs"]].groupby("user", sort=False).sum()
    most = sums.nlargest(MOST_GAINERS, "hours")
    return tuple(Gainer(str(user), int(row["jobs"]), float(row["hours"])) for user, row in most.iterrows())
