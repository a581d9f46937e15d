"""Questions that are asked window by window: their algebra, and the same answers as of all calls at once."""

from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import image_job, write_session
from tests.unit.analysis.drawn_calls import drawn_calls, session_of
from tfdarshan.analysis.calls.segments import load_segments, segment_blocks
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.read_passes import read_passes
from tfdarshan.analysis.time.latency import CallDurations, Durations, latency, latency_by_windows
from tfdarshan.native.call_sums import DurationSums, cell_start_ns
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL


def check_latency(session, runner=SERIAL, at_a_time=8):
    """Compare it with that of all calls at once."""
    processes = session.processes
    segments = load_segments(processes, load_files(processes).index)
    pd.testing.assert_frame_equal(latency_by_windows(processes, runner, at_a_time), latency(segments))


@pytest.mark.parametrize("thousands", [1, 2, 3, 5])
def test_one_slow_call_of_a_thousand_is_no_percentile(thousands):
    # GIVEN 999 reads of 1 us and one of 5 s, or several times as many
    starts_ns = cell_start_ns(np.arange(len(DurationSums(1).cells[0])))
    quick, slow = np.searchsorted(starts_ns, [1000, 5 * 10**9], "right") - 1
    cells = Counter({int(quick): 999 * thousands, int(slow): thousands})
    found = Durations(0, 0, 5 * 10**9, cells)

    # THEN
    assert max(found.percentiles()) < 2000


@settings(max_examples=20)
@given(st.lists(drawn_calls(), min_size=1, max_size=6), st.integers(1, 40))
def test_windows_of_any_size_say_what_all_calls_say(processes, at_a_time):
    with session_of(processes) as session:
        check_latency(session, at_a_time=at_a_time)


@pytest.mark.long
def test_two_hundred_processes_say_what_all_calls_say():
    # GIVEN 200 processes that read for up to 1 us at moments of their own
    rng = np.random.default_rng(3)
    processes = [
        [
            (int(at), int(at + rng.integers(0, 1000)), 7, "pread", int(rng.integers(0, 5)), 50)
            for at in np.cumsum(rng.integers(1000, 300_000, 60))
        ]
        for _ in range(200)
    ]

    # WHEN / THEN
    with session_of(processes) as session:
        check_latency(session, ProcessPool(2), at_a_time=4000)


@pytest.mark.long
def test_an_image_job_says_what_all_calls_say(tmp_path):
    check_latency(write_session(tmp_path, image_job(20_000, 2, 8)), at_a_time=50_000)


@settings(max_examples=10)
@given(st.lists(drawn_calls(), min_size=1, max_size=3), st.integers(2, 12))
def test_partials_merge_in_any_order(processes, at_a_time):
    with session_of(processes) as session:
        windows, question = time_windows(session.processes, at_a_time), CallDurations()
        parts = [question.map(window) for window in windows]
        one, two, three = (parts * 3)[:3]
        merge = question.merge

        # THEN
        assert merge(one, two) == merge(two, one)
        assert merge(merge(one, two), three) == merge(one, merge(two, three))
        assert merge(one, question.empty()) == one == merge(question.empty(), one)


def test_percentiles_are_right_to_a_five_hundredth():
    # GIVEN 400 reads that last from 10 us to 50 ms
    rng = np.random.default_rng(1)
    lasts = np.exp(rng.uniform(np.log(1e4), np.log(5e7), 400)).astype(int).tolist()
    made = [(at * 1000, at * 1000 + taken, at, "pread", 0, 10) for at, taken in enumerate(lasts)]

    # WHEN
    with session_of([made]) as session:
        (row,) = latency_by_windows(session.processes).to_dict("records")

    # THEN
    for name, share in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
        exact = sorted(lasts)[int(np.ceil(share * 400)) - 1]
        assert exact * (1 - 1 / 512) <= row[name] <= exact
    assert (row["calls"], row["total_ns"], row["max_ns"]) == (400, sum(lasts), max(lasts))


@settings(max_examples=10)
@given(st.lists(drawn_calls(), min_size=1, max_size=3))
def test_passes_in_blocks_are_those_of_all_calls(processes):
    with session_of(processes) as session:
        files = load_files(session.processes)
        segments = load_segments(session.processes, files.index)
        found = read_passes(partial(segment_blocks, session.processes, files.index), files)
        expected = read_passes(lambda: iter([segments]), files)
    pd.testing.assert_frame_equal(found, expected)
