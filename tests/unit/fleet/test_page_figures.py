"""How a fleet's page shows figures: lines that can be told apart, and times that people read."""

import pytest

from tfdarshan.fleet.trends import Trend, Week
from tfdarshan.reports.figures.fleet_figures import MOST_LINES, trend_figure
from tfdarshan.reports.text.fleet_text import hours, job_seconds


def test_no_two_mounts_have_the_same_line():
    trends = [Trend(f"/m{place}", "lustre", "call_s", (Week("2026-07-20", 3, 0.001),)) for place in range(20)]

    drawn = trend_figure(trends, [], "s")["data"]

    looks = {(trace["line"]["color"], trace["line"]["dash"]) for trace in drawn}
    assert len(looks) == len(drawn) == MOST_LINES


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(977.557, "978 s"), (9.5, "10 s"), (9.25, "9.250 s"), (-600.4, "-600 s"), (0.0, "0 ns")],
)
def test_seconds_of_a_job_are_whole(seconds, said):
    assert job_seconds(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.1, "360 s"), (36.24, "36.2 h"), (2730.4, "2,730 h"), (0, "0 h")]
)
def test_hours_are_in_units_that_fit(value, said):
    assert hours(value) == said
