"""How long steps take: an ordinary one, and the one that stands out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array


@dataclass(frozen=True)
class StepLength:
    """The time of steps.

    Attributes:
        steps: How many there are, at least one.
        median_s: The median, in seconds: a mean has the first step's compilation, and an epoch's end.
        longest_s: The longest, in seconds.
    """

    steps: int
    median_s: float
    longest_s: float


def step_length(step_ns: Array) -> StepLength:
    """Return the length of steps, of their times in ns; there is at least one."""
    return StepLength(len(step_ns), float(np.median(step_ns)) / 1e9, float(np.max(step_ns)) / 1e9)
