"""Files that can be staged: what each costs its job, and what copies of some of them give, by its model."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import plain_paths
from tfdarshan.analysis.files.rereads import median_epochs
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.promise import promise
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.staging.assumed_tier import on_tier
from tfdarshan.staging.candidate import Candidates
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.file_seconds import left_on_tier, usual_seconds
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts


@dataclass(frozen=True, eq=False)
class StagedInput:
    """Arrays have one entry per candidate.

    Attributes:
        use: What the files were used for.
        facts: The run.
        job: The replay model of its newest session.
        found: The candidates.
        tier: The fast tier.
        epochs: Epochs in the sessions.
        place: Each one's row in the job's own file table, -1 if it has none.
        block_bytes: What the fast tier allots space in.
        mirrored: Whether the job reads copies and links in one folder, so that stats by name find copies.
    """

    use: FileUse
    facts: RunFacts
    job: ModelledJob
    found: Candidates
    tier: TierProbe
    epochs: float
    place: Array
    block_bytes: int
    mirrored: bool = False

    @cached_property
    def slow_s(self) -> Array:
        """Seconds of readers per epoch where the file is."""
        return self._seconds[0]

    @cached_property
    def fast_s(self) -> Array:
        """The same on the fast tier, no more than `slow_s`."""
        return self._seconds[1]

    @property
    def saved_s(self) -> Array:
        """Seconds of readers per epoch that staging the file saves."""
        return self.slow_s - self.fast_s

    @cached_property
    def size_bytes(self) -> Array:
        """The file's own bytes; what a pass reads if that is unknown."""
        size = self.use.size_bytes[self.found.rows]
        return np.where(size > 0, size, self.found.pass_bytes).astype(np.float64)

    @cached_property
    def room_bytes(self) -> Array:
        """Bytes that it takes on the fast tier, in whole blocks."""
        return np.ceil(np.maximum(self.size_bytes, 1) / self.block_bytes) * self.block_bytes

    @property
    def outside_steps(self) -> Array:
        """Which are read, but not from the first step to the last, bool; none if the sessions do not say.

        A copy of such a file, as of a validation set behind the only epoch, makes no step quicker: no promise
        of steps has it. Who copies all that there is room for has it copied, too, as a longer run reads it
        between steps.
        """
        use, rows = self.use, self.found.rows
        known = self.facts.steps_s is not None and use.traced_share >= 1
        return known & (use.counted_bytes[rows] > 0) & (use.bytes_read[rows] == 0)

    @property
    def passes(self) -> Array:
        """How often an epoch reads the file; 0 if only others than steps read it."""
        return np.where(self.use.bytes_read[self.found.rows] > 0, self.found.passes, 0) / self.epochs

    def staged(self, members: Array | None = None) -> Staged:
        """Return copies of some candidates, or all, as an edit of the job."""
        place = self.place if members is None else self.place[members]
        files = np.zeros(len(self.job.facts.files), bool)
        files[place[place >= 0]] = True
        return on_tier(self.tier, files, mirrored=self.mirrored)

    def expected(self, members: Array | None = None) -> Expectation:
        """Return what copies of some candidates, or all, give an epoch."""
        found = promise(self.job, self.staged(members))
        epoch_s, modelled_s = self.facts.training_s / self.epochs, self.modelled_s * len(self.facts.paths)
        low_s, saved_s, high_s = (
            modelled_s / self.epochs * (1 - 1 / one) for one in (found.low, found.expected, found.high)
        )
        # What is not firm gives nothing for certain.
        sure = found.firm and self.wait_known
        return Expectation(epoch_s, saved_s, low_s if sure else min(low_s, 0.0), high_s)

    @property
    def wait_known(self) -> bool:
        """Whether the session says what training waits for."""
        return self.job.facts.waits_known

    def is_enough(self, some: Expectation, everything: Expectation) -> bool:
        """Say whether some files give nearly what all give."""
        return _log(some) >= SETTING["nearly"] * _log(everything)

    @property
    def modelled_s(self) -> float:
        """What of a session the model has: not what is before the first step, or the first read."""
        return min(self.job.facts.batches.total_s, self.facts.training_s / max(len(self.facts.paths), 1))

    @cached_property
    def _seconds(self) -> tuple[Array, Array]:
        """What each candidate takes where it is, and on the fast tier."""
        use, rows = self.use, self.found.rows
        taken_s = use.read_s[rows] + use.meta_s[rows] + (use.stat_s[rows] if self.mirrored else 0.0)
        slow_s, left, known = taken_s.astype(np.float64), np.ones(len(rows)), self.place >= 0
        all_left = left_on_tier(self.job, on_tier(self.tier, None, mirrored=self.mirrored))
        left[known] = all_left[self.place[known]]
        # Files of other ranks, and of other sessions, are not the model's: they do as its own do.
        left[~known] = np.average(left[known], weights=slow_s[known]) if slow_s[known].any() else 1.0
        gains = np.flatnonzero((left < 1) & (slow_s > 0))
        stored, passes = self.found.storage_passes[gains], self.found.passes[gains]
        slow_s[gains] = usual_seconds(use, rows[gains], np.where(stored > 0, stored, passes), slow_s[gains])
        return slow_s / self.epochs, slow_s * left / self.epochs


def staged_input(
    use: FileUse,
    facts: RunFacts,
    job: ModelledJob,
    fast_tier: TierProbe,
    found: Candidates,
    *,
    session_epochs: float | None = None,
    block_bytes: int = 1,
    place: Array | None = None,
) -> StagedInput:
    """Return the files that can be staged, with the job's model.

    A job is led to a mirror if stats by name take much of the gain: `run --staged` asks the originals.

    Args:
        use: What the files were used for.
        facts: The run.
        job: The replay model of its newest session.
        fast_tier: The tier that copies go to.
        found: The files that can be staged.
        session_epochs: Epochs in the sessions; None to take the median of how often files were read.
        block_bytes: What the fast tier allots space in.
        place: The row of the job's file table that each row of `use` is; by default by their paths.
    """
    if place is None:
        place = _places(use, job)
    epochs = session_epochs or median_epochs(use.times_read[found.rows])
    made = StagedInput(use, facts, job, found, fast_tier, epochs, place[found.rows], block_bytes)
    if not use.stat_s[found.rows].any():
        return made
    mirrored = dataclasses.replace(made, mirrored=True)
    return made if made.is_enough(made.expected(), mirrored.expected()) else mirrored


def copy_seconds(staged: StagedInput, members: Array) -> float:
    """Return how long copying takes: reading as the job's readers did from storage, and writing."""
    use, rows = staged.use, staged.found.rows
    slow_s = float((use.storage_s[rows] + use.meta_s[rows]).sum(dtype=np.float64))
    s_per_byte = slow_s / max(float(use.storage_bytes[rows].sum(dtype=np.float64)), 1.0)
    copied = float(staged.size_bytes[members].sum())
    return copied * (s_per_byte / max(staged.facts.readers, 1.0) + 1 / staged.tier.write_bytes_per_s)


def total(values: Array) -> float:
    """Return the sum of many single-precision numbers in double precision."""
    return float(values.sum(dtype=np.float64))


def _places(use: FileUse, job: ModelledJob) -> Array:
    """Return the row of the job's own table that each path has, -1 if it has none."""
    own = plain_paths(job.facts.files.paths)
    own = own.combine_chunks() if isinstance(own, pa.ChunkedArray) else own
    found = pc.index_in(use.paths.cast(own.type), value_set=own)
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    return found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _log(expected: Expectation) -> float:
    return math.log1p(min(expected.gain, 1 / TINY_S))
