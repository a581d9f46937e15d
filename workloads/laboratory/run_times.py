"""How many times faster a fixed job is, and how far runs that differ let anybody say so."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Runs of one program that differ by no more agree: another one is not needed.
AGREE = 1.03
# Few runs may agree by chance: they are pooled with what is usual, as if so many more runs had shown that.
USUAL_SD, USUAL_DEGREES = 0.03, 4
# Student's t, one-sided 5 %, for 1 to 10 degrees of freedom; beyond, by its expansion about the normal's.
T_95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)
Z_95 = 1.645


@dataclass(frozen=True)
class Times:
    """How many times faster a job is: by the medians of its runs, and the bounds of the 90 % interval."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Spread:
    """What runs of one program differ by.

    Attributes:
        sd: Standard deviation of the logarithm of a run's seconds.
        degrees: Of freedom that it was found with.
    """

    sd: float
    degrees: int

    def error(self, *runs: int) -> float:
        """Return how far the logarithm of a ratio of medians may be off, of so many runs each."""
        return t_95(self.degrees) * self.sd * math.sqrt(math.fsum(map(_of_median, runs)))


def spread_of(arms: Sequence[Sequence[float]]) -> Spread:
    """Pools the seconds of several programs' runs, each about its own mean, with what is usual."""
    repeated = [[math.log(one) for one in arm] for arm in arms if len(arm) > 1]
    squares = math.fsum(statistics.variance(arm) * (len(arm) - 1) for arm in repeated)
    degrees = sum(len(arm) - 1 for arm in repeated) + USUAL_DEGREES
    return Spread(math.sqrt((squares + USUAL_DEGREES * USUAL_SD**2) / degrees), degrees)


def times(before_s: Sequence[float], after_s: Sequence[float], spread: Spread) -> Times:
    """Return how many times faster the runs after are, with the interval by what runs differ by."""
    middle = statistics.median(before_s) / statistics.median(after_s)
    error = math.exp(spread.error(len(before_s), len(after_s)))
    return Times(middle, middle / error, middle * error)


def t_95(degrees: int) -> float:
    """Return what Student's t exceeds in one case of twenty."""
    if degrees <= len(T_95):
        return T_95[degrees - 1]
    first, second = Z_95**3 + Z_95, 5 * Z_95**5 + 16 * Z_95**3 + 3 * Z_95
    return Z_95 + first / (4 * degrees) + second / (96 * degrees**2)


def _of_median(runs: int) -> float:
    """Return the variance of a median of so many, in variances of one; of one or two it is their mean."""
    return 1 / runs if runs < 3 else math.pi / (2 * runs)
