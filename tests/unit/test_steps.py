import json
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfdarshan
from tfdarshan.analysis.storage.storage_share import storage_by_step
from tfdarshan.commands import main
from tfdarshan.frameworks.batch_log import STEP_CALLS
from tfdarshan.sessions.step_table import covered_ns

TIMES = st.integers(0, 60)
INTERVALS = st.lists(st.tuples(TIMES, st.integers(0, 20)), max_size=12)


@given(INTERVALS, st.lists(TIMES, min_size=1, max_size=5))
def test_covered_time_is_that_of_every_nanosecond_counted(intervals, at):
    # GIVEN intervals in any order, and the nanoseconds they cover
    start = np.array([first for first, _ in intervals], np.int64)
    end = np.array([first + length for first, length in intervals], np.int64)
    covered = {t for a, b in zip(start.tolist(), end.tolist(), strict=True) for t in range(a, b)}

    # THEN
    expected = [sum(t < limit for t in covered) for limit in at]
    assert covered_ns(start, end, np.array(at, np.int64)).tolist() == expected


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(10_000))
    return path


def read(path, times, size):
    handle = os.open(path, os.O_RDONLY)
    for _ in range(times):
        os.read(handle, size)
    os.close(handle)


def test_steps_have_the_calls_that_were_made_in_them(tmp_path, data):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for number in range(3):
            with tfdarshan.step(number + 10) as step:
                with step.input_wait():
                    time.sleep(0.01 * (number + 1))
                    read(data, number + 1, 100 * (number + 1))
            read(data, 1, 7)  # between two steps

    # THEN each open, reads and close
    steps = session.steps
    assert steps["step"].tolist() == [10, 11, 12]
    assert steps["operations"].tolist() == [3, 4, 5]
    assert steps["rchar"].tolist() == [100, 400, 900]
    assert steps["bytes_read"].tolist() == [100, 400, 900]
    assert steps["bytes_written"].tolist() == [0, 0, 0]
    assert set(steps["source"]) == {STEP_CALLS}
    duration = steps["end_ns"] - steps["start_ns"]
    assert (steps["input_wait_ns"] >= [10e6, 20e6, 30e6]).all()
    assert (steps["input_wait_ns"] <= duration).all()
    assert (steps["start_ns"].diff().dropna() > 0).all()
    calls = session.events
    inside = calls[(calls["start_ns"] >= steps["start_ns"][1]) & (calls["start_ns"] < steps["end_ns"][1])]
    assert steps["io_ns"][1] == (inside["end_ns"] - inside["start_ns"]).sum()


def test_a_call_of_step_ends_the_step_before(tmp_path, data):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in range(3):
            tfdarshan.step()
            read(data, 1, 50)

    # THEN
    steps = session.steps
    assert steps["step"].tolist() == [0, 1, 2]
    assert steps["bytes_read"].tolist() == [50, 50, 50]
    assert steps["start_ns"].tolist()[1:] == steps["end_ns"].tolist()[:-1]
    assert steps["input_wait_ns"].tolist() == [-1, -1, -1]


def test_steps_outside_of_a_session_are_nothing(tmp_path, data):
    # WHEN
    with tfdarshan.step() as step, step.input_wait():
        pass
    with tfdarshan.profile(tmp_path / "logs") as session:
        read(data, 1, 50)

    # THEN
    assert len(session.steps) == 0
    assert "input_wait_ns" in session.steps.columns


def test_steps_say_what_came_from_storage(tmp_path):
    # GIVEN a file that is in the page cache, and one whose pages were dropped
    sizes = {"cached": 3 << 20, "cold": 5 << 20}
    for name, size in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.write(os.urandom(size))
            file.flush()
            os.fsync(file.fileno())
            if name == "cold":
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    told = {}

    # WHEN each is read in a step, and the kernel is asked apart from that
    with tfdarshan.profile(tmp_path / "logs") as session:
        for name, size in sizes.items():
            before = kernel_read_bytes()
            with tfdarshan.step():
                read(tmp_path / name, 1, size)
            told[name] = kernel_read_bytes() - before

    # THEN
    assert session.steps["rchar"].tolist() == list(sizes.values())
    assert session.steps["read_bytes"].tolist() == list(told.values())
    split = storage_by_step(session.steps)
    assert split["cached_bytes"].tolist()[0] == sizes["cached"]
    assert split["cached_bytes"].tolist()[1] == max(sizes["cold"] - told["cold"], 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"trace": False},
            (
                "The session has no trace, so what the calls of each step did is not known: record with "
                "trace=True."
            ),
        ),
        ({"trace_memory_mb": 1}, "The trace has all calls of the first "),
    ],
)
def test_what_calls_of_a_step_did_is_not_known_without_their_trace(tmp_path, data, capsys, options, said):
    # GIVEN steps that read all of a file, of which the trace has no call, or room for those of some alone
    with tfdarshan.profile(tmp_path / "logs", include=[str(data)], **options) as session:
        for _ in tfdarshan.steps(range(12)):
            read(data, 6_000, 100)

    # WHEN
    main(["steps", "--sort", "step", str(session.path)])
    _head, *lines = capsys.readouterr().out.splitlines()
    main(["steps", "--sort", "step", "--json", str(session.path)])
    rows = json.loads(capsys.readouterr().out)["steps"]

    # THEN a step has all of its calls, or says that they are not known: none has a part of them, or 0 bytes
    told = [tuple(row[name] for name in ("bytes_read", "bytes_written", "operations")) for row in rows]
    whole = told.count((10_000, 0, 6_002))
    assert told == [(10_000, 0, 6_002)] * whole + [(-1, -1, -1)] * (12 - whole)
    assert [row["io_ns"] > 0 for row in rows] == [True] * whole + [False] * (12 - whole)
    assert (whole > 0) == ("trace" not in options)
    assert [line.split()[-4:] == ["-"] * 4 for line in lines[:12]] == [False] * whole + [True] * (12 - whole)
    assert lines[12].startswith(said)

    # THEN what people read of them is not a number either
    brief = session.steps_brief[["io_ms", "read_MB", "written_MB", "calls"]]
    assert brief.notna().all(axis=1).sum() == whole
    assert brief.isna().all(axis=1).sum() == 12 - whole


def test_steps_of_earlier_versions_are_read(tmp_path, data):
    # GIVEN a session whose steps have no figures of the kernel
    with tfdarshan.profile(tmp_path / "logs") as session, tfdarshan.step(7):
        read(data, 1, 10)
    (path,) = session.path.glob("*.meta.json")
    meta, (step,) = json.loads(path.read_text()), session.steps.to_dict("records")
    times = [meta["origin_realtime_ns"] + step[name] for name in ("start_ns", "end_ns")]
    del meta["tables"]["steps"]
    meta["steps"] = {"rows": [[7, *times, -1, STEP_CALLS]], "left_out": 0}
    path.write_text(json.dumps(meta))

    steps = tfdarshan.open_session(session.path).steps

    assert (steps["step"].tolist(), steps["bytes_read"].tolist()) == ([7], [10])
    assert (steps["rchar"].tolist(), steps["read_bytes"].tolist()) == ([-1], [-1])
    assert len(storage_by_step(steps)) == 0


@pytest.mark.parametrize("told", [None, [None, None]], ids=["no column", "no values"])
def test_a_table_of_steps_need_not_tell_of_the_gpu(tmp_path, told):
    # GIVEN the table of an earlier version, and one without values
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in tfdarshan.steps(range(2)):
            pass
    (path,) = session.path.glob("*.steps.parquet")
    table = pq.read_table(path)
    column = table.column_names.index("exposed_wait_ns")
    assert table["exposed_wait_ns"].to_pylist() == [-1, -1]
    table = table.remove_column(column)
    if told is not None:
        table = table.append_column("exposed_wait_ns", pa.array(told, pa.int64()))
    pq.write_table(table, path)

    # WHEN
    steps = tfdarshan.open_session(session.path).steps

    # THEN
    assert (steps["step"].tolist(), steps["exposed_wait_ns"].tolist()) == ([0, 1], [-1, -1])


def kernel_read_bytes():
    handle = os.open("/proc/self/io", os.O_RDONLY)
    text = os.read(handle, 4096).decode()
    os.close(handle)
    return int(text.partition("\nread_bytes: ")[2].split()[0])
