"""Numbers drawn from a seed, over wide ranges: each factor as likely as any other."""

from __future__ import annotations

import math
import random


class Dice(random.Random):
    """The draws of one seed."""

    def between(self, low: float, high: float) -> float:
        """Return a number of three digits; its logarithm is uniform."""
        return _three_digits(math.exp(self.uniform(math.log(low), math.log(high))))

    def evenly(self, low: float, high: float) -> float:
        """Return a number of three digits; it is uniform, for ranges of less than a factor of four."""
        return _three_digits(self.uniform(low, high))

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included; its logarithm is uniform."""
        return min(high, int(low * math.exp(self.random() * math.log((high + 1) / low))))

    def happens(self, share: float) -> bool:
        """Return True for that share of the draws."""
        return self.random() < share


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")
