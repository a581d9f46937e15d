"""What an epoch takes before and after staging, with a range."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """An epoch's time before and after staging.

    Attributes:
        epoch_s: Before.
        saved_s: What it takes less.
        low_s: The lower bound of that.
        high_s: The upper bound.
    """

    epoch_s: float
    saved_s: float
    low_s: float
    high_s: float

    @property
    def gain(self) -> float:
        """How much faster an epoch is: 0.2 is 20 %."""
        return gain(self.epoch_s, self.saved_s)

    @property
    def gain_range(self) -> tuple[float, float]:
        """The bounds of `gain`."""
        return gain(self.epoch_s, self.low_s), gain(self.epoch_s, self.high_s)

    @property
    def speedup(self) -> float:
        """How many times faster an epoch is: 1.2 is 1.2x."""
        return 1 + self.gain

    @property
    def speedup_range(self) -> tuple[float, float]:
        """The bounds of `speedup`."""
        low, high = self.gain_range
        return 1 + low, 1 + high


def gain(before_s: float, saved_s: float) -> float:
    """Return how much faster something is that took `before_s` and takes `saved_s` less."""
    left = before_s - saved_s
    return saved_s / left if left > 0 else math.inf
