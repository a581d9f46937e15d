import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdarshan.native.spool_reader import EVENT_DTYPES, EventBatch, ThreadInfo
from tfdarshan.sessions.schema import OVERVIEW_BINS
from tfdarshan.sessions.writing.overview_table import Overview

READ, CLOSE = 1, 0


def batch(rows):
    """Make a batch of (start, end, tid, operation, length)."""
    columns = dict(
        zip(("start_ns", "end_ns", "tid", "operation", "length"), zip(*rows, strict=True), strict=True)
    )
    arrays = {
        name: np.array(columns.get(name, [0] * len(rows)), dtype) for name, dtype in EVENT_DTYPES.items()
    }
    return EventBatch(**arrays)


def table(rows, duration_ns, threads=(7, 8)):
    overview = Overview(duration_ns, [ThreadInfo(tid, "", 10, 0, {}) for tid in threads], 2)
    events = batch(rows)
    overview.add(events, events.length)
    return overview, overview.columns()


def test_bytes_are_spread_over_the_duration_of_a_call():
    # GIVEN bins of 100 ns and one call from the middle of bin 1 to the middle of bin 5
    _, columns = table([(150, 550, 7, READ, 4000)], 100 * OVERVIEW_BINS)

    # THEN
    assert columns["bin"].tolist() == [1, 2, 3, 4, 5]
    assert columns["bytes"].tolist() == [500, 1000, 1000, 1000, 500]
    assert columns["busy_ns"].tolist() == [50, 100, 100, 100, 50]
    assert columns["count"].tolist() == [1, 0, 0, 0, 0]


def test_threads_and_operations_are_kept_apart():
    _, columns = table([(0, 10, 7, READ, 5), (0, 10, 8, READ, 6), (5, 5, 8, CLOSE, 0)], OVERVIEW_BINS * 100)

    rows = {(t, o): b for t, o, b in zip(columns["tid"], columns["operation"], columns["bytes"], strict=True)}
    assert rows == {(7, READ): 5, (8, READ): 6, (8, CLOSE): 0}


def test_threads_beyond_the_busiest_are_gathered():
    # GIVEN a thread that is not in the list
    _, columns = table([(0, 10, 99, READ, 5)], 1000)

    # THEN
    assert set(columns["tid"].tolist()) == {0}
    assert columns["bytes"].sum() == 5


def test_session_without_events_has_no_rows():
    assert len(Overview(10**9, [], 2).columns()["bin"]) == 0


@pytest.mark.parametrize("duration_ns", [0, 1, 2047, 10**12])
def test_any_duration_has_all_bins(duration_ns):
    overview, columns = table([(0, duration_ns, 7, READ, 12_345)], duration_ns)

    assert overview.bin_ns * OVERVIEW_BINS >= duration_ns
    assert columns["bytes"].sum() == 12_345
    assert columns["bin"].max() < OVERVIEW_BINS


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from([7, 8]), st.sampled_from([0, 1]),
            st.integers(0, 10**7),
        ),
        min_size=1, max_size=40,
    )
)  # fmt: skip
def test_totals_are_exact_however_calls_lie(calls):
    # GIVEN
    rows = [(start, start + length, tid, op, size) for start, length, tid, op, size in calls]

    # WHEN
    _, columns = table(rows, 2 * 10**9)

    # THEN
    assert columns["count"].sum() == len(rows)
    assert columns["bytes"].sum() == sum(row[4] for row in rows)
    assert columns["busy_ns"].sum() == sum(row[1] - row[0] for row in rows)
    assert min(columns["bytes"].min(), columns["busy_ns"].min()) >= 0
