from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.analysis import calls_at_once
from tests.unit.analysis.calls_at_once import AXIS_NS, union_by_group
from tfdarshan.analysis.intervals import covered, group_order, union_ns

CALLS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=30)


def arrays(calls):
    """Makes starts and ends of (start, length)."""
    start = np.array([at for at, _ in calls], np.int64)
    return start, start + np.array([length for _, length in calls], np.int64)


def test_union_counts_overlaps_once():
    start, end = np.array([0, 5, 20, 21]), np.array([10, 12, 30, 22])

    assert union_ns(start, end) == 22


def test_union_of_nothing_is_zero():
    assert union_ns(np.array([], np.int64), np.array([], np.int64)) == 0


@given(CALLS)
def test_union_is_the_number_of_covered_points(calls):
    # GIVEN
    start, end = arrays(calls)

    # WHEN / THEN
    assert union_ns(start, end) == len({point for at, length in calls for point in range(at, at + length)})


@given(CALLS, st.lists(st.integers(-5, 140), min_size=1, max_size=5))
def test_covered_time_before_a_moment(calls, moments):
    # GIVEN
    start, end = arrays(calls)
    points = {point for at, length in calls for point in range(at, at + length)}

    # WHEN
    merged = covered(start, end)

    # THEN
    assert merged.until(np.array(moments)).tolist() == [sum(p < moment for p in points) for moment in moments]
    assert merged.total_ns() == len(points)
    assert (merged.start_ns[1:] > merged.end_ns[:-1]).all()


@given(CALLS, st.integers(1, 5), st.sampled_from([AXIS_NS, 400]))
def test_union_by_group_is_the_union_of_each_group(calls, groups, axis_ns):
    # GIVEN groups in any order, and an axis that has room for all of them, or only for some at once
    start, end = arrays(calls)
    group = np.arange(len(calls)) % groups
    in_order = np.argsort(start, kind="stable")
    start, end, group = start[in_order], end[in_order], group[in_order]
    order = group_order(group, groups)

    # WHEN
    with mock.patch.object(calls_at_once, "AXIS_NS", axis_ns):
        unions = union_by_group(group[order], start[order], end[order], groups)

    # THEN
    assert unions.tolist() == [union_ns(start[group == g], end[group == g]) for g in range(groups)]


def test_groups_far_apart_in_a_long_session_do_not_overflow():
    # GIVEN two million groups in a session of a month
    month_ns, groups = 30 * 86_400 * 10**9, 2_000_000
    group = np.array([0, 0, 1_999_999])
    start, end = np.array([0, month_ns - 5, 10]), np.array([7, month_ns, month_ns])

    # THEN
    unions = union_by_group(group, start, end, groups)
    assert (unions[0], unions[1_999_999], unions.sum()) == (12, month_ns - 10, month_ns + 2)


@given(st.lists(st.integers(0, 2**20), max_size=50))
def test_group_order_is_a_stable_sort(groups):
    group = np.array(groups, np.int32)

    assert group_order(group, 2**20 + 1).tolist() == np.argsort(group, kind="stable").tolist()
