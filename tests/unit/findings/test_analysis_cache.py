"""What is kept of a session's calls gives the next reader the same, and is never taken for another's."""

import dataclasses
import json
import os
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_phases import phases_job
from tests.unit.findings.made_up_training import training
from tests.unit.findings.made_up_validation import validation_job
from tests.unit.findings.whole_files import QUICK_MS, SLOW_MS, read_whole
from tfdarshan.analysis.calls.call_kinds import CallGroup
from tfdarshan.findings.diagnosis import summary_and_diagnosis
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.session import open_session
from tfdarshan.sessions import analysis_cache_file
from tfdarshan.sessions.analysis_cache_file import FILE
from tfdarshan.sessions.frozen_values import MAGIC, FrozenError, frozen_bytes, thawed
from tfdarshan.sessions.process_data import ProcessData

FILES = 400


@pytest.fixture
def tables_read(monkeypatch):
    """Have sessions of any size kept; count how often events tables are read."""
    monkeypatch.setattr(analysis_cache_file, "LEAST_CALLS", 0)
    read: Counter[str] = Counter()
    batches = ProcessData.event_batches

    def counted(process, *arguments, **more):
        read["events"] += 1
        return batches(process, *arguments, **more)

    monkeypatch.setattr(ProcessData, "event_batches", counted)
    return read


def answers(path):
    """Return all that the summary says, of a session that is opened anew."""
    data, diagnosis = summary_and_diagnosis(open_session(path), 5)
    said = plain_diagnosis(diagnosis) | dataclasses.asdict(data)
    text = json.dumps(said, sort_keys=True, default=str)
    # BLAS adds numbers up in an order that depends on where they lie in memory.
    return json.dumps(json.loads(text, parse_float=lambda number: f"{float(number):.13g}"))


def slow_file(logdir):
    return read_whole(logdir, lambda file, at: SLOW_MS if file % 40 == 7 else QUICK_MS, files=FILES)


def without_steps(logdir):
    calls = [(5.0 * n, 5.0 * n + 4, n % 3, "pread", n % 7, 100_000, 0) for n in range(300)]
    return training(logdir, calls, [], paths=[f"/data/{n}" for n in range(7)], sizes=[100_000] * 7)


def marked_bodies(logdir):
    """A thread that reads for 8 ms, and a loop whose steps of 2 ms are marked."""
    calls = [(10.0 * n, 10.0 * n + 8, 1, "pread", n % 8, 100_000, 0) for n in range(128)]
    steps = [(10.0 * n + 8, 10.0 * n + 10, -1) for n in range(128)]
    return training(logdir, calls, steps, paths=[f"/data/{n}" for n in range(8)], sizes=[100_000] * 8)


@pytest.mark.parametrize("make", [slow_file, validation_job, phases_job, without_steps, marked_bodies])
def test_the_next_reader_is_told_the_same_and_reads_no_call(tmp_path, tables_read, make):
    path = make(tmp_path).path
    first = answers(path)
    assert tables_read["events"]
    tables_read.clear()

    assert answers(path) == first

    assert not tables_read
    assert list(path.glob(f".{FILE}*")) == []


def test_ranks_are_read_once(tmp_path, tables_read):
    session = joint_training(tmp_path, [MadeUpRank([[2 * n, 2 * n + 1] for n in range(8)])] * 3)
    first = answers(session.path)
    assert tables_read["events"]
    tables_read.clear()

    assert answers(session.path) == first

    assert not tables_read


@pytest.mark.parametrize("changed", ["table", "version", "damaged", "cut", "another", "empty"])
def test_what_does_not_belong_to_the_session_is_worked_out_anew(tmp_path, tables_read, monkeypatch, changed):
    path = marked_bodies(tmp_path).path
    first, kept = answers(path), path / FILE
    content = kept.read_bytes()
    if changed == "table":
        (events,) = path.glob("*.events.parquet")
        os.utime(events, ns=(1, 1))
    elif changed == "version":
        monkeypatch.setattr(analysis_cache_file, "KEPT_VERSION", analysis_cache_file.KEPT_VERSION + 1)
    elif changed == "damaged":
        kept.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
    elif changed == "cut":
        kept.write_bytes(content[: len(content) // 2])
    elif changed == "another":
        kept.write_bytes(frozen_bytes({"of": 1, "values": 2}))
    else:
        kept.write_bytes(b"")
    tables_read.clear()

    assert answers(path) == first

    assert tables_read["events"]
    tables_read.clear()
    assert (answers(path), dict(tables_read)) == (first, {})


def test_a_folder_that_cannot_be_written_is_left_as_it_is(tmp_path, tables_read):
    path = marked_bodies(tmp_path).path
    (path / FILE).mkdir()

    assert answers(path) == answers(path)

    assert sorted(one.name for one in path.iterdir() if FILE in one.name) == [FILE]


def test_of_a_small_session_nothing_is_kept(tmp_path):
    path = marked_bodies(tmp_path).path
    answers(path)

    assert not (path / FILE).exists()


@pytest.mark.parametrize("table", ["events", "files"])
def test_a_missing_table_is_said_though_partials_are_kept(tmp_path, tables_read, table):
    path = marked_bodies(tmp_path).path
    answers(path)
    (missing,) = path.glob(f"*.{table}.parquet")
    missing.unlink()

    with pytest.raises(Exception, match="is missing"):
        answers(path)


def test_frozen_objects_come_back_as_they_were():
    table = pd.DataFrame({"seconds": [0.1, 2.0]}, index=pd.RangeIndex(2, name="depth"))
    value = {
        "group": CallGroup(1.0, float("inf"), 0.1 + 0.2, 3.0),
        "arrays": (np.arange(3, dtype=np.int32), [np.zeros((2, 0)), np.array([True])]),
        "names": frozenset({"a", "\u00e9"}),
        "none": None,
    }

    found = thawed(frozen_bytes(value | {"table": table}), {"CallGroup": CallGroup})

    pd.testing.assert_frame_equal(found.pop("table"), table)
    assert (found["group"], found["names"], found["none"]) == (value["group"], value["names"], None)
    ints, (nothing, truth) = found["arrays"]
    assert (ints.tolist(), ints.dtype, nothing.shape, truth.tolist()) == ([0, 1, 2], np.int32, (2, 0), [True])


@pytest.mark.parametrize("content", [b"", b"PAR1", MAGIC, MAGIC + bytes(40)])
def test_other_bytes_are_no_frozen_objects(content):
    with pytest.raises(FrozenError):
        thawed(content, {})


def test_no_class_is_made_that_nobody_named():
    with pytest.raises(FrozenError, match="CallGroup"):
        thawed(frozen_bytes(CallGroup()), {})
    with pytest.raises(TypeError):
        frozen_bytes({"code": np.array([print], object)})


def test_steps_of_another_trace_are_looked_at_anew(tmp_path, tables_read):
    # GIVEN a session beside a trace of TensorFlow's, which says when its steps were
    session = slow_file(tmp_path)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    trace = tmp_path / "host.xplane.pb"
    trace.write_bytes(b"")
    path.write_text(json.dumps(meta | {"tensorflow": {"trace": trace.name, "start_ns": 0}}))
    before = analysis_cache_file._state(open_session(session.path).processes)

    # WHEN / THEN the state is another one with another trace, and without one
    trace.write_bytes(b"other")
    other = analysis_cache_file._state(open_session(session.path).processes)
    trace.unlink()
    without = analysis_cache_file._state(open_session(session.path).processes)
    assert before != other != without != before
