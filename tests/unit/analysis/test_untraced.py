"""Sums over time of calls without a segment: divided among parts of time, and in words."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdarshan.analysis.time.bandwidth import all_calls
from tfdarshan.analysis.time.untraced import (
    UntracedSums,
    unknown_from_ns,
    untraced_parts,
    untraced_sentence,
    untraced_sums,
)
from tfdarshan.sessions.writing.time_bins import TimeBins


def process_of(starts, widths, values):
    """Return a process whose table has `values` in each of its columns."""
    starts = np.array(starts, np.int64)
    columns = {"start_ns": starts, "end_ns": starts + widths}
    columns |= {
        name: np.array(values, np.int64) for name in ("calls", "bytes_read", "bytes_written", "busy_ns")
    }
    table = pa.table(columns)
    return SimpleNamespace(
        meta={"tables": {"untraced": {}}}, table=lambda name, columns: table.select(columns)
    )


WITHOUT: Any = SimpleNamespace(meta={"tables": {}})


def test_parts_of_time_that_hold_whole_rows_have_their_sums():
    process = process_of([0, 10, 30], 10, [7, 1, 5])
    ((place, sums),) = untraced_parts([WITHOUT, process], TimeBins(0, 20, 3))
    assert place == 1
    assert all(getattr(sums, field.name).tolist() == [8, 5, 0] for field in dataclasses.fields(sums))


def test_a_row_that_two_parts_share_is_divided_evenly():
    sums = untraced_sums([process_of([0, 10], 10, [100, 30])], TimeBins(5, 10, 2))
    assert sums.bytes_read.tolist() == [50 + 15, 15]


def test_processes_are_added_up():
    one = process_of([0], 10, [3])
    assert untraced_sums([one, WITHOUT, one], TimeBins(0, 10, 1)).calls.tolist() == [6]
    assert untraced_sums([WITHOUT], TimeBins(0, 10, 1)).calls.tolist() == [0]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 1 << 40)), min_size=1, max_size=30),
    st.integers(1, 1000),
    st.integers(1, 60),
)
def test_nothing_is_lost_or_negative(rows, width, count):
    starts = np.cumsum([gap + 1 for gap, _ in rows]) * width
    values = [value for _, value in rows]
    end_ns = int(starts[-1]) + width
    sums = untraced_sums([process_of(starts, width, values)], TimeBins(0, -(-end_ns // count), count))
    assert sums.bytes_read.sum() == sum(values)
    assert (sums.bytes_read >= 0).all()


def meta(start_ns=0, dropped=0, first_dropped_ns=-1, summed=False):
    """Return the metadata of a process."""
    return {
        "start_ns": start_ns, "counts": {"events_dropped": dropped},
        "time": {"first_dropped_ns": first_dropped_ns}, "tables": {"untraced": {}} if summed else {},
    }  # fmt: skip


SUMMED = meta(10**9, 5, 2 * 10**9, summed=True)
LACKING = meta(10**9, 5, 4 * 10**9)


@pytest.mark.parametrize(
    ("metas", "unknown_ns", "sentence"),
    [
        ([meta()], None, ""),
        (
            [meta(dropped=500), SUMMED],
            None,
            "Bytes are those of the calls in the trace, without 500 others. The counters of files have all.",
        ),
        ([meta(), SUMMED], None, "From 3.000 s on, bytes are exact sums over all calls."),
        (
            [meta(), SUMMED, LACKING],
            5 * 10**9,
            "From 5.000 s on, bytes are not known. Record with a larger trace_memory_mb.",
        ),
    ],
)
def test_the_sentence(metas, unknown_ns, sentence):
    assert unknown_from_ns(metas) == unknown_ns
    assert untraced_sentence(metas, "bytes are") == sentence


def test_bandwidth_has_all_calls_and_ends_where_some_are_unknown():
    # GIVEN two parts of a second each
    zeros, edges = np.zeros(2), np.array([0, 10**9, 2 * 10**9])
    segments = pd.DataFrame(
        {
            "start_ns": edges[:-1], "end_ns": edges[1:], "calls": [1, 0], "bytes_read": [10, 0],
            "bytes_written": [0, 0], "read_bytes_per_s": [10.0, 0], "write_bytes_per_s": zeros,
            "depth": zeros,
        }
    )  # fmt: skip
    sums = UntracedSums(*(np.array(of) for of in ([2, 3], [5, 7], [1, 0], [10**9, 10**8])))

    # WHEN
    known, cut = all_calls(segments, sums, None), all_calls(segments, sums, 10**9)

    # THEN
    assert known["calls"].tolist() == [3, 3]
    assert known["bytes_read"].tolist() == known["read_bytes_per_s"].tolist() == [15, 7]
    assert known["write_bytes_per_s"].tolist() == [1, 0]
    assert known["depth"].tolist() == [1, 0.1]
    pd.testing.assert_frame_equal(cut, known[:1])
