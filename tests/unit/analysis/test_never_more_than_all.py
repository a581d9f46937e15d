"""Time in I/O is never more than the session, however many processes and calls there are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import job_of, write_session
from tests.unit.analysis.drawn_calls import drawn_calls, session_of
from tfdarshan.analysis.calls import wall_clock
from tfdarshan.analysis.calls.call_unions import CallUnions
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.reports.text.summary_text import render

PROCESSES, CALLS, APART_NS, LASTS_NS = 10, 200, 10_000, 9_982


def reading_together(logdir):
    """Return ten processes that read at the same moments, each 99.82 % of the time."""
    made = [(n * APART_NS, n * APART_NS + LASTS_NS, 1, "pread", 0, 100) for n in range(CALLS)]
    jobs = [
        job_of(made, ["/data/a"], [100], pid=100 + place, duration_ns=CALLS * APART_NS)
        for place in range(PROCESSES)
    ]
    return write_session(logdir, *jobs)


@pytest.mark.parametrize("calls_of_a_window", [7, 1000, 1 << 24])
def test_processes_that_read_at_once_are_not_added_up(tmp_path, monkeypatch, calls_of_a_window):
    # GIVEN a session that was said to be in calls for 998.2 % of its time, as its calls are many for a window
    session = reading_together(tmp_path)
    monkeypatch.setattr(
        wall_clock, "time_windows", lambda processes: time_windows(processes, calls_of_a_window)
    )
    monkeypatch.setattr(wall_clock, "CallUnions", lambda apart: CallUnions(apart, most=50))

    # WHEN
    data = summarize(session)

    # THEN
    clock = data.wall_clock
    assert clock.io_s == pytest.approx(CALLS * LASTS_NS / 1e9)
    assert (clock.exact, clock.at_most) == (True, "")
    assert clock.thread_s == pytest.approx(PROCESSES * clock.io_s)
    assert "99.8 %" in render(data)
    assert "998" not in render(data)


@settings(max_examples=10, deadline=None)
@given(st.lists(drawn_calls(), min_size=1, max_size=5), st.sampled_from([4, 16, 1 << 24]))
def test_no_time_is_longer_than_the_session(processes, calls_of_a_window):
    with session_of(processes) as session, pytest.MonkeyPatch.context() as patch:
        patch.setattr(wall_clock, "time_windows", lambda found: time_windows(found, calls_of_a_window))
        clock = measure_wall_clock(session.processes)

    # THEN it is the time covered by all calls, worked out one ns after the other
    covered = np.zeros(max((call[1] for made in processes for call in made), default=0) + 1, bool)
    for made in processes:
        for start, end, *_ in made:
            covered[start:end] = True
    assert clock.io_s == pytest.approx(covered.sum() / 1e9)
    assert all(value <= clock.duration_s for value in (clock.io_s, clock.read_s, clock.write_s, clock.meta_s))


def test_one_call_of_each_process_at_a_time(tmp_path):
    # GIVEN two processes that take turns, and are never in calls together
    jobs = [
        job_of([(at, at + 50, 1, "pread", 0, 1)], ["/a"], [1], pid=100 + at, duration_ns=100)
        for at in (0, 50)
    ]
    clock = measure_wall_clock(write_session(tmp_path, *jobs).processes)

    # THEN all of the time
    assert clock.io_s == clock.duration_s == 100 / 1e9
