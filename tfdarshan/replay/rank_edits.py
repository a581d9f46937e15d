"""Fixes of what one rank of a job has more to read than another one, as edits of its network."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.replay.calibrate import ModelledJob

DEMANDS = ("limit_s", "transfer_s", "seek_s", "work_s", "behind_s", "wait_s", "requests", "calls", "jumps")


@dataclass(frozen=True)
class PartOfInput:
    """A rank that prepares a part of what it prepares now for each batch.

    Attributes:
        part: Which share of it.
    """

    part: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it: tasks need as much less of all that they need."""
        return job.but(**{name: getattr(job.model, name) * self.part for name in DEMANDS})
