"""Calls on input in long pauses between steps, and on files that are read in nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array, RunningUnion
from tfdarshan.analysis.calls.session_calls import SessionCalls
from tfdarshan.analysis.steps.input_pipeline import input_calls
from tfdarshan.analysis.steps.step_windows import StepWindows, place_in
from tfdarshan.thresholds import THRESHOLD

# A file is read in pauses alone if so many of its calls are; of few calls in pauses nothing is to be said.
ALONE, FEWEST_CALLS = THRESHOLD["most"], int(THRESHOLD["few"])


@dataclass(frozen=True)
class PauseReading:
    """What was read in pauses alone.

    Attributes:
        count: Pauses in which something was.
        reading_s: The time in which at least one call was running.
        thread_s: The calls' durations added up.
        rows: Of the file table.
    """

    count: int
    reading_s: float
    thread_s: float
    rows: Array

    @property
    def at_a_time(self) -> float:
        """How many calls ran at a time while any did."""
        return max(1.0, self.thread_s / self.reading_s) if self.reading_s > 0 else 1.0


@dataclass(frozen=True)
class PauseCounts:
    """Counts the calls of each file, and those in pauses.

    Attributes:
        begin_ns: Where the pauses begin, in order of time.
        end_ns: Where they end.
        made: Of each row of the file table its calls, int64.
        inside: Those of them in pauses, int64.
    """

    begin_ns: Array
    end_ns: Array
    made: Array
    inside: Array

    @staticmethod
    def between(windows: StepWindows | None, files: int) -> PauseCounts | None:
        """Return the pauses of steps, None if there are none."""
        if windows is None:
            return None
        begin, end = windows.pauses
        counts = np.zeros(files, np.int64), np.zeros(files, np.int64)
        return PauseCounts(begin, end, *counts) if len(begin) else None

    def add(self, file: Array, start_ns: Array) -> None:
        """Add calls."""
        np.add.at(self.made, file, 1)
        np.add.at(self.inside, file[self._pause_of(start_ns) >= 0], 1)

    def reading(
        self,
        calls: SessionCalls,
        is_input: Array,
        windows: StepWindows | None,
    ) -> PauseReading | None:
        """Look at these calls again; of too few nothing is to be said.

        Args:
            calls: The session's.
            is_input: Which files are input.
            windows: The steps.
        """
        alone = (self.made > 0) & (self.inside >= ALONE * self.made)
        if int(self.inside[alone].sum()) < FEWEST_CALLS:
            return None
        union, lasted_ns, pauses = RunningUnion(), 0, set[int]()
        for any_calls in calls.within(self.begin_ns, self.end_ns):
            block = any_calls.where(input_calls(any_calls, is_input, windows)[0])
            pause = self._pause_of(block.start_ns)
            chosen = (pause >= 0) & alone[block.file]
            start, end = block.start_ns[chosen], block.end_ns[chosen]
            pauses.update(np.unique(pause[chosen]).tolist())
            union.add(start, end)
            lasted_ns += int((end - start).sum())
        rows = np.flatnonzero(alone & (self.inside > 0))
        return PauseReading(len(pauses), union.sum_ns / 1e9, lasted_ns / 1e9, rows)

    def _pause_of(self, start_ns: Array) -> Array:
        """Return the pause that each moment is in, -1 if it is in none."""
        return place_in(self.begin_ns, self.end_ns, start_ns)
