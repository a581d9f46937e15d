"""Totals that merge: their algebra, and the same tables as of all calls at once."""

import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import image_job, job_of, write_session
from tests.unit.analysis.calls_at_once import (
    activity_by_thread,
    io_time_by_directory,
    io_time_by_mount,
    io_time_by_operation,
    io_time_by_process,
    io_time_by_thread,
    metadata_share,
)
from tests.unit.analysis.test_properties import PATHS, calls
from tfdarshan.analysis.activity import overview_bins
from tfdarshan.analysis.bandwidth import bandwidth
from tfdarshan.analysis.call_answers import call_answers
from tfdarshan.analysis.call_details import CallDetails
from tfdarshan.analysis.call_durations import CallDurations, latency_of, wanted_cells
from tfdarshan.analysis.call_totals import CallTotals
from tfdarshan.analysis.directory import directories_of
from tfdarshan.analysis.file_table import load_files
from tfdarshan.analysis.latency import latency
from tfdarshan.analysis.queue_depth import queue_depth
from tfdarshan.analysis.read_passes import read_passes
from tfdarshan.analysis.segments import load_segments, segment_blocks
from tfdarshan.analysis.step_time import step_time, step_times_of
from tfdarshan.analysis.time_windows import time_windows
from tfdarshan.analysis.wall_clock import measure_wall_clock
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL
from tfdarshan.sessions import schema

PARTS = 16


@contextmanager
def session_of(processes, row_group=8):
    """Gives the session of some processes' calls, in small row groups."""
    last = max((call[1] for process in processes for call in process), default=0)
    jobs = [
        job_of(made, PATHS, [10, 5000, 1, -1, 0], pid=100 + place, duration_ns=last + 1)
        for place, made in enumerate(processes)
    ]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "EVENTS_ROW_GROUP", row_group)
        yield write_session(Path(folder), *jobs)


def check_answers(session, runner=SERIAL, at_a_time=8):
    """Compares them with the answers of all calls at once."""
    processes = session.processes
    bins, files = overview_bins(processes, PARTS), load_files(processes)
    segments = load_segments(processes, files.index)
    found = call_answers(processes, bins, runner, at_a_time)

    assert found.left_out == ()
    assert found.clock == measure_wall_clock(processes, segments)
    for table, expected in (
        (found.by_operation, io_time_by_operation(segments)),
        (found.by_thread, io_time_by_thread(segments)),
        (found.by_process, io_time_by_process(segments)),
        (found.by_mount, io_time_by_mount(segments, files)),
        (found.by_directory, io_time_by_directory(segments, directories_of(files))),
    ):
        assert list(table["io_ns"]) == list(expected["io_ns"])
        pd.testing.assert_frame_equal(
            table.sort_index(), expected.sort_index(), check_dtype=False, check_index_type=False
        )
    pd.testing.assert_frame_equal(found.latency, latency(segments))
    pd.testing.assert_frame_equal(found.queue_depth, queue_depth(segments, bins))
    assert found.metadata == metadata_share(segments, found.clock)
    check_bandwidth(found.bandwidth, bandwidth(segments, bins))
    check_activity(found.activity, activity_by_thread(segments, bins))


def check_bandwidth(found, expected):
    """Compares bytes over time, which may differ where a half is rounded."""
    exact = ["start_ns", "end_ns", "calls"]
    pd.testing.assert_frame_equal(found[exact], expected[exact])
    for name in ("bytes_read", "bytes_written"):
        assert found[name].sum() == expected[name].sum()
        assert np.abs(np.cumsum(found[name]) - np.cumsum(expected[name])).max() <= 1


def check_activity(found, expected):
    """Compares threads by name: two that were as busy may change places."""
    order, other = np.argsort(found.names), np.argsort(expected.names)
    assert [found.names[place] for place in order] == [expected.names[place] for place in other]
    for name in ("calls", "bytes_moved", "busy_ns"):
        np.testing.assert_allclose(getattr(found, name)[order], getattr(expected, name)[other], atol=1e-3)


@settings(max_examples=20)
@given(st.lists(calls(), min_size=1, max_size=6), st.integers(1, 40))
def test_windows_of_any_size_say_what_all_calls_say(processes, at_a_time):
    with session_of(processes) as session:
        check_answers(session, at_a_time=at_a_time)


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
        check_answers(session, ProcessPool(2), at_a_time=4000)


@pytest.mark.long
def test_an_image_job_says_what_all_calls_say(tmp_path):
    check_answers(write_session(tmp_path, image_job(20_000, 2, 8)), at_a_time=50_000)


@settings(max_examples=10)
@given(st.lists(calls(), min_size=1, max_size=3), st.integers(2, 12))
def test_partials_merge_in_any_order(processes, at_a_time):
    with session_of(processes) as session:
        windows, bins = time_windows(session.processes, at_a_time), overview_bins(session.processes, PARTS)
        totals = CallTotals(bins)
        whole = SERIAL.gather(totals, windows).partial
        threads = whole.groups["thread"].names
        question: Any
        for question in (totals, CallDetails(wanted_cells(whole.durations), threads[:1], bins)):
            parts = [question.map(window) for window in windows]
            one, two, three = (parts * 3)[:3]
            merge = question.merge

            # THEN
            assert merge(one, two) == merge(two, one)
            assert merge(merge(one, two), three) == merge(one, merge(two, three))
            assert merge(one, question.empty()) == one == merge(question.empty(), one)


def test_one_look_gives_percentiles_within_a_five_hundredth():
    # GIVEN 400 reads that last from 10 us to 50 ms
    rng = np.random.default_rng(1)
    lasts = np.exp(rng.uniform(np.log(1e4), np.log(5e7), 400)).astype(int).tolist()
    made = [(at * 1000, at * 1000 + taken, at, "pread", 0, 10) for at, taken in enumerate(lasts)]

    # WHEN
    with session_of([made]) as session:
        durations = SERIAL.gather(CallDurations(), time_windows(session.processes, 50)).partial
    table = latency_of(durations, ["pread"])

    # THEN
    (row,) = table.to_dict("records")
    for name, share in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
        exact = sorted(lasts)[int(np.ceil(share * 400)) - 1]
        assert exact * (1 - 1 / 512) <= row[name] <= exact
    assert (row["calls"], row["total_ns"], row["max_ns"]) == (400, sum(lasts), max(lasts))


@settings(max_examples=10)
@given(st.lists(calls(), min_size=1, max_size=3), st.lists(st.integers(0, 30_000), max_size=5))
def test_steps_say_what_all_calls_say(processes, starts):
    steps = pd.DataFrame({"start_ns": starts, "end_ns": [start + 4_000 for start in starts]}, dtype=np.int64)
    with session_of(processes) as session:
        files = load_files(session.processes)
        expected = step_time(steps, load_segments(session.processes, files.index))
        found = step_times_of(steps, session.processes)
    pd.testing.assert_frame_equal(found.drop(columns="bytes"), expected.drop(columns="bytes"))
    assert (found["bytes"] - expected["bytes"]).abs().max() <= 1 if len(starts) else True


@settings(max_examples=10)
@given(st.lists(calls(), min_size=1, max_size=3))
def test_passes_in_blocks_are_those_of_all_calls(processes):
    with session_of(processes) as session:
        files = load_files(session.processes)
        segments = load_segments(session.processes, files.index)
        found = read_passes(partial(segment_blocks, session.processes, files.index), files)
        expected = read_passes(lambda: iter([segments]), files)
    pd.testing.assert_frame_equal(found, expected)
