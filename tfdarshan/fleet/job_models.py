"""What the replay models of a fleet's sessions say of a change.

A model is asked of the sessions that may gain most. Of the others, and of logs, only bounds are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfdarshan.analysis.measured_session import measure_session
from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import exact_name
from tfdarshan.fleet.faster_parts import FasterPart
from tfdarshan.fleet.job_columns import SESSION
from tfdarshan.fleet.job_table import JobTable
from tfdarshan.native.spool_reader import Array
from tfdarshan.partials.serial import Lost, Runner, in_silence
from tfdarshan.replay.edits import Edit
from tfdarshan.replay.promise import promise_of_many
from tfdarshan.replay.session_model import session_model
from tfdarshan.sessions.session_data import SessionData


@dataclass(frozen=True)
class Told:
    """Seconds of each job that a change saves, by its model, least and most; NaN without one."""

    least_s: Array
    most_s: Array

    @property
    def known(self) -> Array:
        """Which jobs have a model, bool."""
        found: Array = ~np.isnan(self.most_s)
        return found


@dataclass(frozen=True)
class Asked:
    """A session, its place in the table of jobs, and a change."""

    place: int
    path: str
    edit: Edit


def nothing_told(jobs: JobTable) -> Told:
    """Return what is known if no model is asked."""
    return Told(*np.full((2, len(jobs)), np.nan))


def ask_models(
    jobs: JobTable,
    part: FasterPart,
    most: int,
    runner: Runner,
    progress: Callable[[int, int], None] = in_silence,
) -> Told:
    """Return what the models say.

    Args:
        jobs: The jobs.
        part: What is faster.
        most: How many models are asked; those come first whose jobs may save most node time.
        runner: What reads the sessions.
        progress: Called as `progress(sessions_read, sessions)`.
    """
    rows = jobs.rows
    weight = np.abs(part.most_s(jobs)) * rows["node_count"].to_numpy(float)
    weight = np.where(rows["kind"] == SESSION, weight, 0.0)
    places = np.argsort(-weight, kind="stable")[:most]
    folders = rows["input_folder"].fillna("").tolist()
    asked = [
        Asked(place, exact_name(str(rows["input"].iloc[place])), part.edit(folders[place]))
        for place in places[weight[places] > 0].tolist()
    ]
    told = nothing_told(jobs)
    for done, answer in enumerate(runner.each(saved_s, asked), 1):
        progress(done, len(asked))
        if not isinstance(answer, Lost):
            told.least_s[answer.task.place], told.most_s[answer.task.place] = answer.result
    return told


def saved_s(asked: Asked) -> tuple[float, float]:
    """Return the seconds of a job that a change saves: the bound nearer to nothing, and the other one.

    NaN if the session cannot be read. Seconds are below 0 if the change makes the job slower.
    """
    try:
        job = session_model(measure_session(SessionData.open(Path(asked.path)).leading))
    except SessionDataError:
        return np.nan, np.nan
    found, batches = promise_of_many(job, asked.edit), job.facts.batches
    ends = (found.low, found.high) if found.expected >= 1 else (found.high, found.low)
    least_s, most_s = (batches.total_s * (1 - 1 / one) for one in ends)
    sure = found.firm and job.facts.waits_known and least_s * most_s > 0
    # The loop's own computing stays.
    most_s = min(most_s, batches.total_s - float(batches.weight @ batches.compute_s))
    return (least_s if sure else 0.0), most_s
