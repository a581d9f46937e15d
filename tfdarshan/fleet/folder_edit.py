"""Copies of all files of a folder on a fast tier, as an edit of a job's replay model."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.storage_edits import Staged


@dataclass(frozen=True)
class StagedFolder:
    """The copies.

    Attributes:
        folder: The folder, as the tables of sessions spell it.
        bytes_per_s: What a reader gets of the tier.
    """

    folder: str
    bytes_per_s: float

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job that reads them."""
        below = pc.starts_with(pa.chunked_array([job.facts.files.paths]), f"{self.folder.rstrip('/')}/")
        return Staged(below.to_numpy().astype(bool), bytes_per_s=self.bytes_per_s)(job)
