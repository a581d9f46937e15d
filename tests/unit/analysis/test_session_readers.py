"""How many threads read at a time, in sessions whose threads are known."""

import json

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import MS, epochs_of_steps, training
from tfdarshan.analysis.calls.merged_calls import in_order
from tfdarshan.analysis.calls.reader_count import ThreadLives, threads_alive, threads_at_a_time
from tfdarshan.findings.measurement import measure
from tfdarshan.session import open_session
from tfdarshan.staging.run_facts import run_facts


def calls_of_epochs(epochs, threads, *, calls=100, busy_ms=8.0, gap_ms=2.0, first_tid=1, start_ms=0.0):
    """Return epochs, one after the other, each read by new threads that are all busy alike."""
    found, period_ms = [], busy_ms + gap_ms
    for epoch in range(epochs):
        for thread in range(threads):
            tid = first_tid + epoch * threads + thread
            begin_ms = start_ms + epoch * calls * period_ms + thread * gap_ms / threads
            found += [
                (begin_ms + n * period_ms, begin_ms + n * period_ms + busy_ms, tid, "pread", 0, 1000)
                for n in range(calls)
            ]
    return found


def readers_of(session):
    return run_facts([session]).readers


@pytest.mark.parametrize("epochs", [1, 2, 10, 30])
def test_readers_do_not_grow_with_the_epochs(tmp_path, epochs):
    # GIVEN two new threads in every epoch
    session = training(tmp_path, calls_of_epochs(epochs, 2))

    # THEN two read at a time, as findings say too
    assert readers_of(session) == pytest.approx(2, rel=0.03)
    assert measure(session).model.readers == pytest.approx(2, rel=0.03)


def test_readers_do_not_grow_with_the_epochs_where_steps_are_known(tmp_path):
    session = training(tmp_path, calls_of_epochs(10, 2), epochs_of_steps(100, 100, 60))

    assert readers_of(session) == pytest.approx(2, rel=0.03)
    assert measure(session).model.readers == pytest.approx(2, rel=0.03)


def test_threads_that_take_turns_are_one_reader(tmp_path):
    calls = [(10 * n, 10 * n + 10, 1 + n % 4, "pread", 0, 1000) for n in range(400)]

    assert readers_of(training(tmp_path, calls)) == pytest.approx(1)


def test_readers_that_also_decode_count_whole(tmp_path):
    # GIVEN four threads that read some 5 ms and decode some 10
    rng = np.random.default_rng(4)
    calls = []
    for tid in range(1, 5):
        end_ms = np.cumsum(rng.exponential(10, 1000) + (read_ms := rng.exponential(5, 1000)))
        calls += [(e - r, e, tid, "pread", 0, 1000) for e, r in zip(end_ms, read_ms, strict=True)]

    assert readers_of(training(tmp_path, calls)) == pytest.approx(4, rel=0.05)


def test_start_up_is_no_reading_of_input(tmp_path):
    # GIVEN a main thread that reads programs for 4 s, a little, and then four that read half of 2 s
    start_up = [(10 * n, 10 * n + 0.05, 100, "read", 0, 10) for n in range(400)]
    calls = start_up + calls_of_epochs(1, 4, calls=200, busy_ms=5.0, gap_ms=5.0, start_ms=4000)

    assert readers_of(training(tmp_path, calls)) == pytest.approx(4, rel=0.05)


def test_writers_are_no_readers(tmp_path):
    calls = calls_of_epochs(1, 2)
    calls += [(n, n + 1, 90 + n % 8, "write", 1, 1000) for n in range(1000)]

    assert readers_of(training(tmp_path, calls, paths=["/data/a", "/out/b"])) == pytest.approx(2, rel=0.03)


def ranks(tmp_path, *starts_ms):
    """Write a session of processes that each read with two threads, from a moment on."""
    jobs = []
    for place, start_ms in enumerate(starts_ms):
        calls = [
            (round(call[0] * MS), round(call[1] * MS), *call[2:])
            for call in calls_of_epochs(2, 2, calls=400, start_ms=start_ms)
        ]
        jobs.append(job_of(calls, ["/data/a"], [-1], pid=100 + place))
    return write_session(tmp_path, *jobs)


def test_readers_of_all_ranks_count(tmp_path):
    assert readers_of(ranks(tmp_path, 0, 1, 2)) == pytest.approx(6, rel=0.05)


def test_readers_of_processes_one_after_the_other_do_not_add_up(tmp_path):
    assert readers_of(ranks(tmp_path, 0, 8000, 16_000)) == pytest.approx(2, rel=0.05)


def test_calls_of_processes_come_in_order_whatever_their_row_groups():
    # GIVEN streams that yield a few calls at a time
    rng = np.random.default_rng(3)
    streams, everything = [], []
    for _ in range(3):
        start = np.sort(rng.integers(0, 1000, 200))
        everything.append(start)
        cuts = np.sort(rng.integers(1, 199, 9))
        parts = np.split(np.stack([start, start + 5, start]), np.unique(cuts), axis=1)
        streams.append(iter([tuple(part) for part in parts]))

    # WHEN
    merged = np.concatenate([np.stack(part) for part in in_order(streams)], axis=1)

    # THEN
    assert merged[0].tolist() == np.sort(np.concatenate(everything)).tolist()


def without_trace(session, **time):
    """Take the segments away from a session, as one that was recorded with `trace=False`."""
    for process in session.processes:
        events = process.table("events", ["start_ns", "end_ns"])
        first_ns, last_ns = pc.min(events["start_ns"]).as_py(), pc.max(events["end_ns"]).as_py()
        for table in ("events", "overview"):
            path = process.table_path(table)
            pq.write_table(pq.read_table(path).slice(0, 0), path)
        (meta,) = session.path.glob(f"*.{process.pid}.meta.json")
        content = json.loads(meta.read_text())
        content["counts"]["segments"] = 0
        content["start_ns"] = first_ns
        content["time"] |= {"first_event_ns": 0, "last_event_ns": last_ns - first_ns} | time
        meta.write_text(json.dumps(content))
    return open_session(session.path)


def test_without_a_trace_thread_time_over_wall_clock_time_counts(tmp_path):
    session = without_trace(training(tmp_path, calls_of_epochs(10, 2, busy_ms=9.9, gap_ms=0.1)))

    assert readers_of(session) == pytest.approx(2, rel=0.03)


def test_without_a_trace_readers_of_all_ranks_count(tmp_path):
    assert readers_of(without_trace(ranks(tmp_path / "beside", 0, 1, 2))) == pytest.approx(6, rel=0.15)
    assert readers_of(without_trace(ranks(tmp_path / "after", 0, 8000))) == pytest.approx(2, rel=0.15)


@pytest.mark.parametrize(
    ("ranks_of_parts", "processes", "readers"), [([[0], [1], [2]], 8, 3), ([[0], [-1]], 8, 8), ([[0]], 1, 1)]
)
def test_a_log_without_a_trace_has_a_reader_per_rank(tmp_path, ranks_of_parts, processes, readers):
    # GIVEN a log of eight ranks, of which some have records of their own, or share them
    session = without_trace(ranks(tmp_path, *range(len(ranks_of_parts))), thread_ns=None, io_ns=None)
    for process, found in zip(session.processes, ranks_of_parts, strict=True):
        process.meta["darshan"] = {"ranks": found, "processes": processes}

    assert readers_of(session) == readers


def test_sessions_together_have_the_readers_that_their_time_is_divided_by(tmp_path):
    # GIVEN as much thread time of one reader as of four
    one = training(tmp_path / "one", calls_of_epochs(1, 1, calls=400, busy_ms=9.9, gap_ms=0.1))
    four = training(tmp_path / "four", calls_of_epochs(1, 4, calls=100, busy_ms=9.9, gap_ms=0.1))

    # THEN 1 s of each takes 1 s and 0.25 s
    assert run_facts([one, four]).readers == pytest.approx(1.6, rel=0.02)


def test_threads_at_a_time_are_those_that_are_at_work_together():
    # GIVEN two threads for 10 s, then two others for 10 s, and one that hardly reads all the time
    busy = np.array([8, 8, 8, 8, 0.01]) * 1e9
    lives = ThreadLives(np.array([0, 0, 10, 10, 0]) * 10**9, np.array([10, 10, 20, 20, 20]) * 10**9)

    assert threads_at_a_time(busy, lives) == pytest.approx(2, rel=0.01)
    assert threads_at_a_time(np.zeros(5), lives) == 1


def test_threads_of_a_pool_are_as_many_whoever_meets_the_slow_file():
    # GIVEN four threads for 10 s, then four others, of which one is in calls ten times as long as each other
    busy = np.array([10, 1, 1, 1, 1, 1, 1, 1, 0]) * 1e8
    lives = ThreadLives(
        np.array([0] * 4 + [11] * 4 + [0]) * 10**9, np.array([10] * 4 + [20] * 4 + [20]) * 10**9
    )

    # THEN four are alive at a time, and one without a call is none
    assert threads_alive(busy, lives) == 4
    assert threads_at_a_time(busy, lives) < 4
    assert threads_alive(np.zeros(9), lives) == 1
