import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfdarshan.wall_clock import union_ns


def test_union_counts_overlaps_once():
    start, end = np.array([0, 5, 20, 21]), np.array([10, 12, 30, 22])

    assert union_ns(start, end) == 22


def test_union_of_nothing_is_zero():
    assert union_ns(np.array([], np.int64), np.array([], np.int64)) == 0


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=30))
def test_union_is_the_number_of_covered_points(calls):
    # GIVEN
    start = np.array([at for at, _ in calls], np.int64)
    end = np.array([at + length for at, length in calls], np.int64)

    # WHEN / THEN
    assert union_ns(start, end) == len({point for at, length in calls for point in range(at, at + length)})
