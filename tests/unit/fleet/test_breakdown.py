"""Where the steps of a fleet went: parts over the jobs that say them, and nothing of the others."""

import pytest

from tests.unit.fleet.made_jobs import made_jobs
from tfdarshan.fleet.breakdown import step_breakdown
from tfdarshan.fleet.catalogue_update import Update
from tfdarshan.fleet.fleet_view import fleet_view
from tfdarshan.reports.text.fleet_text import overview_text
from tfdarshan.reports.views.fleet_views import jobs_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.terminal.paint import Paint

ALL_KNOWN = {"steps_s": 3600.0, "input_wait_s": 0.0, "device_copy_s": 360.0, "communication_s": 1800.0}
LONGER = {"steps_s": 7200.0, "input_wait_s": 720.0, "device_copy_s": 360.0, "communication_s": 5400.0}
WAIT_ALONE = {"steps_s": 3600.0, "input_wait_s": 900.0}


def test_parts_are_shares_of_the_steps_of_the_jobs_that_say_them():
    # GIVEN two jobs that say all, one that says its wait alone, and one without steps
    parts = {one.name: one for one in step_breakdown(made_jobs([ALL_KNOWN, LONGER, WAIT_ALONE, {}]))}

    # THEN
    assert [(one.name, one.known_jobs) for one in parts.values()] == [
        ("T_s", 3), ("T_d", 2), ("T_c", 2), ("T_w", 2)
    ]  # fmt: skip
    hours = {name: (one.hours, one.steps_hours) for name, one in parts.items()}
    assert hours == {"T_s": (0.45, 4), "T_d": (0.2, 3), "T_c": (0.6, 3), "T_w": (2, 3)}
    # AND each job counts once in the means, however long it is
    assert parts["T_w"].mean_share == pytest.approx((0.5 + 0.75) / 2)
    assert parts["T_s"].mean_share == pytest.approx((0 + 0.1 + 0.25) / 3)
    # AND of jobs that say all, the parts are the whole
    whole = [one.mean_share for one in step_breakdown(made_jobs([ALL_KNOWN, LONGER]))]
    assert sum(whole) == pytest.approx(1)


def test_what_no_job_says_is_unknown_and_not_0():
    parts = {one.name: one for one in step_breakdown(made_jobs([WAIT_ALONE]))}

    assert parts["T_s"].hours == 0.25
    for name in ("T_d", "T_c", "T_w"):
        assert (parts[name].known_jobs, parts[name].hours, parts[name].mean_share) == (0, None, None)
    assert step_breakdown(made_jobs([{}])) == []


def test_text_and_page_say_how_many_jobs_it_is_known_of():
    # GIVEN
    jobs = made_jobs([ALL_KNOWN, LONGER, WAIT_ALONE])
    done = Update(None, 3, 3, 0, ())
    alone = made_jobs([WAIT_ALONE])

    # WHEN
    lines = overview_text(done, fleet_view(jobs, 0, ()), Paint()).splitlines()
    (unknown,) = (
        line for line in overview_text(done, fleet_view(alone, 0, ()), Paint()).splitlines() if "T_w" in line
    )
    tiles = [panel for panel in jobs_view(done, fleet_view(jobs, 0, ())) if isinstance(panel, Tiles)][1]

    # THEN
    (line,) = (line for line in lines if "T_w" in line)
    assert line.split() == ["communication", "(T_w)", "2.0", "h", "66.7", "%", "62.5", "%", "2"]
    assert unknown.split() == ["communication", "(T_w)", "unknown", "-", "-", "0"]
    shown = {tile.label: (tile.value.text, tile.note) for tile in tiles.items}
    assert shown["Communication (T_w)"] == ("66.7 %", "of step time, 2.0 h, known of 2 jobs")
