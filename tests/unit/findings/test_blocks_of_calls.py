"""What findings ask of calls is the same of all calls at once and block by block, for any session."""

import dataclasses
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import image_job, job_of, write_session
from tests.unit.findings.calls_at_once import (
    asked,
    at_once,
    compared,
    scattered_reads,
    slow_sums,
)
from tests.unit.findings.made_up_phases import phases_job
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.random_calls import CALL, PATHS, WAITS
from tfdarshan.analysis.calls import session_calls
from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.segments import load_segments
from tfdarshan.analysis.calls.stretches import PARTS, Stretches
from tfdarshan.analysis.calls.thinned import Thinned, stride_of
from tfdarshan.analysis.calls.write_calls import KeptWrites
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.steps import input_look
from tfdarshan.analysis.steps.output_calls import output_calls
from tfdarshan.analysis.storage import stored_calls
from tfdarshan.analysis.storage.outlier_calls import compared_reads, slow_calls
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.findings.diagnosis import diagnosis_of
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.slow_files import SLOW
from tfdarshan.sessions import schema

ROWS_OF_A_GROUP = 7
FIELDS = ("files", "reads", "pieces", "read_bytes", "thread_s")


@pytest.fixture
def read_anew():
    """Have no call kept from one question to the next, and row groups small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_calls, "KEPT_CALLS", 0)
        patch.setattr(schema, "EVENTS_ROW_GROUP", ROWS_OF_A_GROUP)
        yield


def check(session):
    """Compare all that findings ask of the calls."""
    measures = measure(session)
    calls, facts, count = at_once(session, measures), measures.facts, len(measures.files)
    assert measures.measured.calls.in_memory is None or not len(calls.segments)
    reads, segments = calls.reads, calls.segments

    assert (facts.calls, facts.reads) == (len(segments), len(reads))
    assert facts.loop_reads == int((calls.column("thread", reads) == calls.loop).sum())
    np.testing.assert_array_equal(facts.asked, asked(calls))
    lasted = calls.column("end_ns", reads) - calls.column("start_ns", reads)
    np.testing.assert_array_equal(facts.sizes_and_times, (calls.column("length", reads), lasted))
    check_order(measures, calls)
    check_stored(measures, calls)
    check_writes(measures, calls)
    check_slow(measures, calls, count)


def check_order(measures, calls):
    found, expected = measures.facts.scattered, scattered_reads(calls.segments, calls.reads, measures.sizes)
    assert [getattr(found, name) for name in FIELDS[1:]] == [getattr(expected, name) for name in FIELDS[1:]]
    assert found.files.tolist() == expected.files.tolist()


def check_stored(measures, calls):
    found, reads = measures.facts.stored, calls.reads
    length = np.where(calls.kinds == KIND["read"], calls.column("length", calls.places), 0)
    slow = from_storage(np.ones(len(length)), length, calls.taken_s(calls.places))
    (part,) = found.stretches or [(np.zeros(0),) * 5]
    for column, expected in zip(
        part,
        (
            calls.column("start_ns", calls.places[slow]),
            calls.column("end_ns", calls.places[slow]),
            length[slow],
            calls.kinds[slow],
            calls.column("thread", calls.places[slow]),
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(column, expected)
    stored = reads[from_storage(np.ones(len(reads)), calls.column("length", reads), calls.taken_s(reads))]
    made = np.bincount(calls.column("file", stored), minlength=len(measures.files))
    np.testing.assert_array_equal(found.by_file[0], made)
    if found.first_pass_ends_ns is not None:
        assert found.first_pass_ends_ns == first_pass_ends_ns(calls, measures.unique_bytes)


def first_pass_ends_ns(calls, input_bytes):
    reached = np.cumsum(calls.column("length", calls.reads), dtype=np.float64)
    at = int(np.searchsorted(reached, stored_calls.THROUGH * input_bytes))
    return int(calls.column("end_ns", calls.reads[at]))


def check_writes(measures, calls):
    expected = output_calls(calls.segments, measures.windows, calls.loop)
    found, kept = measures.output, measures.writes
    for name in ("start_ns", "end_ns", "file", "length"):
        np.testing.assert_array_equal(
            getattr(kept, name)[found.chosen], getattr(calls.segments, name)[expected.chosen]
        )
    assert found.sync.tolist() == expected.sync.tolist()
    assert found.within.tolist() == expected.within.tolist()


def check_slow(measures, calls, count):
    model = measures.read_cost
    found = slow_calls(measures.calls_again("read"), model, count, SLOW)
    for column, expected in zip(
        dataclasses.astuple(found), slow_sums(calls, model, count, SLOW), strict=True
    ):
        np.testing.assert_allclose(column, expected, atol=1e-12)
    files = np.arange(count) % 2 == 0
    (reads, depth, times) = compared(calls, model, files)
    both = compared_reads(measures.calls_again("read"), model, files)
    assert both.reads == reads
    assert both.times == pytest.approx(times)
    # A read that took no time counts as ended where another one begins with it: how many do is up to blocks.
    if not (calls.taken_s(calls.reads) == 0).any():
        assert both.depth == pytest.approx(depth)


@settings(max_examples=15, deadline=None)
@given(
    calls=st.lists(CALL, max_size=80),
    steps=st.integers(0, 10),
    wait=WAITS,
    pause=st.sampled_from([0.0, 400.0]),
)
def test_training_jobs(calls, steps, wait, pause):
    # GIVEN a job that pauses in the middle of its steps
    made = [(start, start + taken, *rest) for start, taken, *rest in calls]
    marks = epochs_of_steps(steps, 50, wait / 2 if wait > 0 else wait)
    marks = [(at + pause * (at >= 250), end + pause * (at >= 250), of) for at, end, of in marks]

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_calls, "KEPT_CALLS", 0)
        patch.setattr(schema, "EVENTS_ROW_GROUP", ROWS_OF_A_GROUP)
        session = training(
            Path(folder), made, marks, paths=PATHS, sizes=[10**6] * len(PATHS), duration_ms=1200
        )

        # THEN
        check(session)


@pytest.mark.parametrize("processes", [1, 2, 12, pytest.param(200, marks=pytest.mark.long)])
def test_sessions_of_several_processes(tmp_path, read_anew, processes):
    # GIVEN workers that read the same files
    jobs = []
    for place in range(processes):
        job = image_job(12, 3, 2, seed=place)
        jobs.append(dataclasses.replace(job, pid=100 + place))

    # THEN
    check(write_session(tmp_path, *jobs))


def test_job_with_phases_and_writes(tmp_path, read_anew):
    session = phases_job(tmp_path)
    measures = measure(session)
    assert measures.phases is not None
    assert measures.facts.scattered.reads

    check(session)


def test_job_that_makes_too_many_writes_is_told_by_its_counters(tmp_path, monkeypatch):
    # GIVEN a job of more writes than are kept
    monkeypatch.setattr(input_look, "KeptWrites", lambda: KeptWrites(most=10))
    measures = measure(phases_job(tmp_path))

    # WHEN
    found = diagnosis_of(measures)

    # THEN none is, and what is said of them is what counters say
    assert measures.facts.writes.too_many
    assert len(measures.writes) == 0
    unknown = {one.name: one.why for one in found.unknown}
    held = "whether writes held up the training loop: there are too many to tell"
    assert unknown["checkpoint_stall"] == held


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(1, 9))
def test_sample_is_every_nth_row(blocks, at_most):
    sample, rows = Thinned(1, at_most), np.arange(sum(blocks))
    for part in np.split(rows, np.cumsum(blocks)[:-1]) if blocks else []:
        sample.add(part)

    (found,) = sample.columns()
    assert found.tolist() == rows[:: stride_of(len(rows), at_most)].tolist()
    assert len(found) <= 2 * at_most
    assert len(found) >= min(len(rows), at_most)


@given(st.lists(st.integers(0, 60), max_size=20), st.integers(1, 5))
def test_stretches_are_neighbours_evenly_out_of_all(blocks, rows):
    kept, every = Stretches(rows), np.arange(sum(blocks))
    for part in np.split(every, np.cumsum(blocks)[:-1]) if blocks else []:
        kept.add(part)

    parts = [part for (part,) in kept.parts()]
    if len(every) <= PARTS * rows:
        assert [part.tolist() for part in parts] == [every.tolist()] * (len(every) > 0)
        return
    assert len(parts) == PARTS
    assert all(np.diff(part).tolist() == [1] * (rows - 1) for part in parts)
    firsts = [part[0] for part in parts]
    assert firsts == sorted(set(firsts))
    # The first and the last of them are near the ends, and no part of all rows is left out.
    assert firsts[0] == 0
    assert max(np.diff([*firsts, len(every)])) <= len(every) / 2


def test_blocks_without_writes_are_not_held_in_memory(tmp_path):
    # GIVEN a block of 20,000 reads
    calls = [(at, at + 5, 1, "pread", 0, 100) for at in range(0, 200_000, 10)]
    session = write_session(tmp_path, job_of(calls, ["/data/0"], [100]))
    block = load_segments(session.processes, load_files(session.processes).index)
    kept = KeptWrites()
    tracemalloc.start()

    # WHEN as many come as would take 80 MB
    for _ in range(100):
        kept.add(block.where(np.arange(len(block))))

    # THEN
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4_000_000
    assert len(kept.calls().segments) == 0
