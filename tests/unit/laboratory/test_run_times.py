"""What runs that differ let anybody say, held against scipy's figures and against chance."""

from __future__ import annotations

import math
import random

import pytest

from tfdarshan.workloads.laboratory.run_times import USUAL_SD, spread_of, t_95, times


@pytest.mark.parametrize("degrees", [1, 2, 4, 10, 11, 30, 1000])
def test_students_t(degrees):
    stats = pytest.importorskip("scipy.stats")
    assert t_95(degrees) == pytest.approx(stats.t.ppf(0.95, degrees), rel=0.005)


def test_arms_are_pooled_about_their_own_means():
    # GIVEN two programs, each of which differs by the same share
    one, other = [9.0, 11.0], [0.9, 1.1]
    assert spread_of([one, other]).sd == pytest.approx(spread_of([one, [90.0, 110.0]]).sd)
    # ... and that one is ten times faster is no part of it
    assert spread_of([one, other]).sd < 0.2


def test_without_repeated_runs_they_differ_by_what_is_usual():
    assert spread_of([[1.0], []]).sd == USUAL_SD
    # ... and two that agree by chance do not make it nothing
    assert spread_of([[1.0, 1.0]]).sd > USUAL_SD / 2


def test_more_runs_tell_more():
    few, many = (
        times([9.0, 10.0, 11.0] * n, [4.5, 5.0, 5.5] * n, spread_of([[9.0, 10.0, 11.0] * n])) for n in (1, 2)
    )
    assert few.middle == many.middle == 2.0
    assert few.low < many.low < 2.0 < many.high < few.high


@pytest.mark.parametrize(
    ("differ", "least", "most"),
    [
        (USUAL_SD, 0.87, 0.97),
        # Of runs that differ more than usual the interval is rather too narrow than too wide.
        (0.1, 0.75, 0.9),
    ],
)
@pytest.mark.parametrize(("before", "after"), [(2, 2), (3, 3), (5, 3)])
def test_the_interval_holds_the_true_gain_as_often_as_it_says(before, after, differ, least, most):
    # GIVEN a job that a fix makes twice as fast
    dice, held, draws = random.Random(7), 0, 2000

    def runs(seconds: float, count: int) -> list[float]:
        return [seconds * math.exp(dice.gauss(0.0, differ)) for _ in range(count)]

    for _ in range(draws):
        arms = [runs(10.0, before), runs(5.0, after), runs(7.0, 3)]
        measured = times(arms[0], arms[1], spread_of(arms))
        held += measured.low <= 2.0 <= measured.high
    # THEN
    assert least <= held / draws <= most
