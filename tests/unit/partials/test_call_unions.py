"""Unions by windows of time: the algebra of partials, and equality with a union worked out call by call."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import OPERATIONS, Job, job_of, write_session
from tests.unit.analysis.drawn_calls import drawn_calls, merged_ns
from tests.unit.partials.lethal_unions import DeadlyRunner
from tfdarshan.analysis.calls import call_unions, wall_clock
from tfdarshan.analysis.calls.call_unions import UNIONS, CallUnions, UnionPartial
from tfdarshan.analysis.calls.segments import CLASSES, load_segments
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.errors import SessionDataError
from tfdarshan.findings.diagnosis import summary_and_diagnosis
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import EVENT_DTYPES
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL, Lost, gather
from tfdarshan.reports.text.summary_text import render
from tfdarshan.sessions import schema
from tfdarshan.sessions.event_groups import GroupSpan

KINDS = {operation.name: operation.io_class for operation in _bridge.operations()}
PATHS = ["/data/a/1", "/data/a/2", "/data/b/1", "/home/u/x", "/data/a"]
SUMS = st.tuples(*[st.integers(0, 1 << 70)] * UNIONS)
PARTIALS = st.builds(UnionPartial, SUMS, st.tuples(SUMS, SUMS))
MS = 1_000_000
QUESTION = CallUnions((0, 1))


@given(PARTIALS, PARTIALS, PARTIALS)
def test_partials_merge_in_any_order(one, two, three):
    merge = QUESTION.merge
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
    assert merge(one, QUESTION.empty()) == one


def session_of(folder, processes):
    jobs = [job_of(made, PATHS, [10] * 5, pid=100 + place) for place, made in enumerate(processes)]
    return write_session(Path(folder), *jobs)


@dataclass(frozen=True)
class InMemory:
    """Stands for a process: gives its calls in row groups of 4, with as much of them as a file would say."""

    meta: dict
    rows: tuple

    @property
    def operations(self):
        return [{"name": name, "io_class": io_class} for name, io_class in KINDS.items()]

    def groups(self):
        return [self.rows[first : first + 4] for first in range(0, len(self.rows), 4)]

    def event_group_spans(self):
        return [
            GroupSpan(len(rows), rows[0][0], rows[-1][0], max(row[1] for row in rows))
            for rows in self.groups()
        ]

    def event_batches(self, columns, windows_ns):
        for rows, span in zip(self.groups(), self.event_group_spans(), strict=True):
            if any(span.first_ns < until and span.last_ns >= since for since, until in windows_ns):
                start, end, _, kind, *_ = zip(*rows, strict=True)
                arrays = [pa.array(start), pa.array(end), pa.array(kind).dictionary_encode()]
                yield pa.record_batch(arrays, names=columns)


@settings(max_examples=60, deadline=None)
@given(st.lists(drawn_calls(), min_size=1, max_size=6), st.integers(1, 12), st.integers(1, 8))
def test_windows_of_any_size_give_the_union_of_all_calls(processes, per_window, held):
    # GIVEN windows that hold few intervals
    every = [call for process in processes for call in process]
    found = [InMemory({"counts": {"segments": len(rows)}}, tuple(sorted(rows))) for rows in processes]
    tasks = time_windows(cast(Any, found), per_window)
    question = CallUnions(tuple(range(len(processes))), most=held)

    # WHEN
    with mock.patch.object(call_unions, "PENDING", 1):
        partial = gather(question, tasks, SERIAL).partial

    # THEN
    of_classes = [[call for call in every if KINDS[call[3]] == name] for name in CLASSES]
    assert list(partial.together_ns) == [merged_ns(chosen) for chosen in (every, *of_classes)]
    assert [own[0] for own in partial.apart_ns] == [merged_ns(process) for process in processes]


def test_windows_share_no_moment_and_leave_none_out(tmp_path, monkeypatch):
    # GIVEN 2,000 calls of two processes in row groups of 64
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 64)
    made = [[(at, at + 7, 1, "pread", 0, 5) for at in range(0, 10_000, 10)] for _ in range(2)]

    # WHEN
    windows = time_windows(session_of(tmp_path, made).processes, 500)

    # THEN
    assert [window.until_ns for window in windows[:-1]] == [window.from_ns for window in windows[1:]]
    assert (windows[0].from_ns, windows[-1].until_ns) == (-(1 << 62), 1 << 62)
    assert [window.from_ns for window in windows[1:]] == pytest.approx([2500, 5000, 7500], abs=200)


@pytest.mark.long
def test_two_hundred_processes_have_one_union(tmp_path):
    # GIVEN 200 processes that each read for 1 us in each of 100 slots, at moments of their own
    rng = np.random.default_rng(3)
    made = [
        [(int(at), int(at) + 1000, 7, "pread", 0, 5) for at in np.cumsum(rng.integers(1000, 300_000, 100))]
        for _ in range(200)
    ]

    # WHEN
    processes = session_of(tmp_path, made).processes
    clock = measure_wall_clock(processes)

    # THEN also with all calls in memory
    assert round(clock.io_s * 1e9) == merged_ns([call for process in made for call in process])
    segments = load_segments(processes, load_files(processes).index)
    assert measure_wall_clock(processes, segments) == clock

    # THEN also by windows, each in one of two processes
    windows = time_windows(processes, 2000)
    assert len(windows) > 8
    gathered = gather(CallUnions(), windows, ProcessPool(2))
    assert round(clock.io_s * 1e9) == gathered.partial.together_ns[0]


def test_calls_that_nobody_lived_to_read_leave_the_time_unknown(tmp_path):
    # GIVEN
    class Loses:
        def each(self, _work, tasks):
            return map(Lost, tasks)

    session = session_of(tmp_path, [[(0, 5, 1, "pread", 0, 5)]] * 2)

    # WHEN
    clock = measure_wall_clock(session.processes, runner=cast(Any, Loses()))

    # THEN
    assert (clock.io_s, clock.read_s, clock.thread_s) == (None, None, 10e-9)
    assert clock.left_out == (
        "the time in calls is not known: each process that read calls from the start to the end ended",
    )


@pytest.mark.parametrize("runner", [SERIAL, ProcessPool(2)], ids=["alone", "pool"])
def test_a_table_that_went_missing_is_said(tmp_path, runner):
    # GIVEN
    session = session_of(tmp_path, [[(0, 5, 1, "pread", 0, 5)]] * 2)
    session.processes[1].table_path("events").unlink()

    # THEN
    with pytest.raises(SessionDataError, match=r"101\.events\.parquet is missing"):
        measure_wall_clock(session.processes, runner=runner)


@pytest.mark.long
def test_who_ends_over_a_window_costs_the_time_in_calls_and_nothing_else(tmp_path, monkeypatch):
    # GIVEN 300 calls of three processes, in windows of about 64; whoever reads the second one is killed
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 32)
    made = [(at, at + 7 * MS, 1, "pread", 0, 5) for at in range(0, 1000 * MS, 10 * MS)]
    session = session_of(tmp_path, [made] * 3)
    windows = time_windows(session.processes, 64)
    monkeypatch.setattr(wall_clock, "time_windows", lambda _processes: windows)

    # WHEN
    data, diagnosis = summary_and_diagnosis(
        session, 5, cast(Any, DeadlyRunner(ProcessPool(2), windows[1].name))
    )

    # THEN
    assert len(windows) > 2
    assert (data.wall_clock.io_s, data.wall_clock.thread_s) == (None, 2.1)
    assert (data.calls, data.posix.reads, data.posix.bytes_read) == (300, 300, 1500)
    said = f"the time in calls is not known: each process that read {windows[1].name} ended"
    assert data.problems == [said]
    assert said in " ".join(render(data, diagnosis.verdict.sentence).split())


@pytest.mark.long
def test_two_processes_of_millions_of_calls_are_never_longer_in_calls_than_the_session(tmp_path):
    # GIVEN two processes that are in the same calls for 60 of each 100 ns, 2.6 million of them each
    count = 2_600_000
    start = np.arange(count) * 100
    made: dict = {
        "start_ns": start,
        "end_ns": start + 60,
        "tid": np.full(count, 7),
        "length": np.full(count, 5),
    }
    kind = np.full(count, OPERATIONS["pread"])
    columns = {
        name: made.get(name, kind if name == "operation" else np.zeros(count)).astype(dtype)
        for name, dtype in EVENT_DTYPES.items()
    }
    jobs = [Job(columns, ["/data/a"], np.array([5]), count * 100, pid=100 + place) for place in range(2)]
    session = write_session(tmp_path, *jobs)

    # WHEN
    clock = measure_wall_clock(session.processes)

    # THEN
    assert clock.exact
    assert (clock.io_s, clock.read_s) == (count * 60e-9, count * 60e-9)
    assert clock.thread_s == pytest.approx(2 * count * 60e-9)
    assert clock.io_s <= clock.duration_s
