import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfdarshan.analysis.calls.intervals import covered, group_order, union_ns

CALLS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=30)


def arrays(calls):
    """Make starts and ends of (start, length)."""
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


@given(st.lists(st.integers(0, 2**20), max_size=50))
def test_group_order_is_a_stable_sort(groups):
    group = np.array(groups, np.int32)

    assert group_order(group, 2**20 + 1).tolist() == np.argsort(group, kind="stable").tolist()
