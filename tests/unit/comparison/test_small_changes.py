"""Changes that round to nothing are neither "-0.0 %" nor better or worse."""

from __future__ import annotations

import pytest

from tfdarshan.comparison.change import BETTER, CHANGED, NOISE, SAME, WORSE, Change
from tfdarshan.comparison.metric import find_metric
from tfdarshan.reports.text.comparison_text import change_text

STEP, OPENS, WAIT = map(find_metric, ("step_time", "opens", "input_wait_share"))


@pytest.mark.parametrize(
    ("metric", "before", "after", "said"),
    [
        (STEP, 1.0, 1.0, "same"),
        (STEP, 1.0, 0.9999999, "< 0.1 %"),
        (STEP, 1.0, 1.0000001, "< 0.1 %"),
        (STEP, 1.0, 0.9996, "< 0.1 %"),
        (STEP, 1.0, 0.9994, "-0.1 %"),
        (STEP, 1.0, 1.0006, "+0.1 %"),
        (OPENS, 1_000_000, 999_999, "-1"),
        (OPENS, 1_000_000, 1_000_001, "+1"),
        (OPENS, 1_000_000, 998_000, "-0.2 %"),
        (STEP, 1_000.0, 0.1, "over 99.9 % less"),
        (STEP, 1_000.0, 0.0, "-100.0 %"),
        (WAIT, 0.1, 0.1001, "< 0.1 points"),
        (WAIT, 0.1, 0.0999, "< 0.1 points"),
        (WAIT, 0.1, 0.101, "+0.1 points"),
    ],
)
def test_no_change_is_worded_as_none(metric, before, after, said):
    change = Change(metric, before, after, 0.0, same_work=True)

    assert change_text(change) == said
    assert " 0.0 %" not in f" {change_text(change).lstrip('+-')}"
    # THEN what is not told is not called good or bad either
    if said == "< 0.1 %":
        assert change.outcome == CHANGED


@pytest.mark.parametrize("step", range(-40, 41))
def test_no_ratio_at_all_is_worded_as_zero(step):
    change = Change(STEP, 1.0, 1.0 + step * 0.00005, 0.0, same_work=True)

    assert not change_text(change).endswith(("-0.0 %", "+0.0 %"))
    outcomes = {-1: BETTER, 1: WORSE}
    assert change.outcome in (SAME, CHANGED, NOISE, outcomes.get((step > 0) - (step < 0)))


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (2_387, 2_384, NOISE),
        (9, 11, NOISE),
        (2, 4, WORSE),
        (0, 2, WORSE),
        (9, 5, BETTER),
        (2_387, 2_300, BETTER),
        (1_000_000, 1_001_500, NOISE),
        (1_000_000, 1_010_000, WORSE),
    ],
)
def test_a_few_calls_more_or_less_are_no_change(before, after, outcome):
    assert Change(OPENS, before, after, 0.0, same_work=True).outcome == outcome


def test_only_counts_differ_by_a_few_calls():
    assert Change(find_metric("passes"), 9, 11, 0.0, same_work=True).outcome == CHANGED
    assert Change(STEP, 9.0, 11.0, 0.0, same_work=True).outcome == WORSE
