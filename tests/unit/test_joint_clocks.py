"""Times of several hosts on one clock: by how much, how that is known, and what is refused if it is not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.joint_training import MadeUpRank, joint_training
from tfdarshan.analysis.calls.wall_clock import clocks_apart, measure_wall_clock
from tfdarshan.recording.clock_sample import (
    TICK_NS,
    both_clocks,
    clock_sample,
    fs_type_of,
    server_offset,
    time_namespace_offset_ns,
)
from tfdarshan.session import open_session
from tfdarshan.sessions import step_table
from tfdarshan.sessions.joint_session import ASKED_CLOCK
from tfdarshan.sessions.process_data import TIMED, _later
from tfdarshan.sessions.rank_folder import missing_ranks, rank_folder
from tfdarshan.sessions.session_directory import boot_id

DEALT = [[[0], [1], [2], [3], [4], [5]], [[6], [7], [8], [9], [10], [11]]]
HOUR_NS = 3_600 * 10**9


def ranks(*changes):
    return [MadeUpRank(steps, **change) for steps, change in zip(DEALT, changes, strict=True)]


def starts_ms(session):
    """Return when each rank's first call began."""
    found = {}
    for process in session.processes:
        found[process.meta["job"]["rank"]] = int(process.table("events")["start_ns"].to_numpy().min()) / 1e6
    return found


def test_ranks_of_one_host_have_exact_unions(tmp_path):
    # GIVEN two ranks that read at the same time
    session = joint_training(tmp_path, ranks({}, {}), noise=0.0)

    # THEN
    clock = measure_wall_clock(session.processes)
    alone = measure_wall_clock(session.joint.ranks[0].processes)
    assert clocks_apart(session.processes) == ""
    assert clock.io_s == pytest.approx(alone.io_s)
    assert clock.thread_s == pytest.approx(2 * alone.thread_s)


def test_a_clock_that_was_set_between_two_starts_on_one_host_does_not_matter(tmp_path):
    # GIVEN CLOCK_REALTIME was put forward by an hour; CLOCK_MONOTONIC goes on
    session = joint_training(tmp_path, ranks({}, {"clock_ns": HOUR_NS}))

    # THEN
    assert starts_ms(session) == {0: 0.0, 1: 0.0}
    assert session.joint.ranks[1].offset_ns == -HOUR_NS
    assert measure_wall_clock(session.processes).duration_s < 1


def test_hosts_with_unknown_clocks_have_no_common_union(tmp_path):
    # GIVEN
    session = joint_training(tmp_path, ranks({}, {"host": "n1", "clock_ns": HOUR_NS}))

    # THEN
    clock = measure_wall_clock(session.processes)
    assert (clock.io_s, clock.read_s) == (None, None)
    assert clock.duration_s < 1
    assert "nobody knows how the clocks of the 2 hosts compare" in clocks_apart(session.processes)
    assert starts_ms(session) == {0: 0.0, 1: 0.0}
    assert session.joint.ranks[1].method == "none"
    for text in (session.summary(), session.summary(verbose=True)):
        assert "nobody knows how the clocks" in " ".join(text.split())
    assert int(session.files["POSIX_BYTES_READ"].sum()) == 12 * 100_000


@pytest.mark.parametrize(("call_ms", "known"), [(40.0, True), (0.5, False)])
def test_the_file_servers_clock_aligns_hosts_as_finely_as_it_is_known(tmp_path, call_ms, known):
    # GIVEN a host whose clock is an hour ahead, which the server's says to 1 ms on each side
    ahead = {"host": "n1", "clock_ns": HOUR_NS, "server_offset_ns": 5_000_000 - HOUR_NS}
    session = joint_training(
        tmp_path, ranks({"server_offset_ns": 5_000_000}, ahead), call_ms=call_ms, noise=0.0
    )

    # THEN
    rank = session.joint.ranks[1]
    assert (rank.offset_ns, rank.error_ns, rank.method) == (-HOUR_NS, 2_000_000, "the file server's clock")
    assert (measure_wall_clock(session.processes).io_s is not None) is known
    assert ("are known to 2.0 ms" in clocks_apart(session.processes)) is not known


def test_steps_and_events_are_on_one_clock(tmp_path):
    # GIVEN the rank that waits most has the clock that is off
    session = joint_training(tmp_path, ranks({}, {"clock_ns": HOUR_NS, "times": 3.0}), noise=0.0)

    # THEN
    assert session.joint.leading.rank == 1
    steps = session.steps
    assert steps["start_ns"].iloc[0] == 0
    events = session.events
    reads = events[events["operation"].astype(str) == "read"]
    inside = [
        ((reads["start_ns"] >= start) & (reads["end_ns"] <= end)).sum()
        for start, end in zip(steps["start_ns"], steps["end_ns"], strict=True)
    ]
    assert inside == [2] * 6
    assert steps["bytes_read"].tolist() == [100_000] * 6  # its own


def test_windows_of_shifted_events_are_found(tmp_path):
    # GIVEN
    session = joint_training(tmp_path, ranks({}, {"clock_ns": HOUR_NS}))
    process = next(process for process in session.processes if process.shift_ns or process.clock)

    # WHEN
    whole = [(0, 10**10)]
    found = sum(batch.num_rows for batch in process.event_batches(["start_ns"], whole))

    # THEN
    assert found == process.rows("events") > 0
    assert not list(process.event_batches(["start_ns"], [(10**12, 10**13)]))


def test_a_file_servers_clock_is_found_within_the_error_that_is_told(tmp_path):
    # GIVEN a server 7 s ahead, whose clock of files moves every 10 ms, behind a network of up to 2 ms
    rng = np.random.default_rng(5)
    now = [10**18]

    def realtime():
        now[0] += int(rng.integers(10_000, 2_000_000))
        return now[0]

    def made_ns(_descriptor):
        return (now[0] + 7 * 10**9) // TICK_NS * TICK_NS

    # WHEN
    offset_ns, error_ns = server_offset(tmp_path, realtime, made_ns)

    # THEN
    assert abs(offset_ns - 7 * 10**9) <= error_ns <= 8_000_000
    assert not list(tmp_path.iterdir())


def test_two_clocks_are_read_at_one_moment():
    # GIVEN a thread that is interrupted in all samples but one
    ticks = iter([0, 900, 1000, 1002, 2000, 2900, 3000, 3900, 4000, 4900])

    # WHEN
    realtime_ns, monotonic_ns, error_ns = both_clocks(lambda: 77, lambda: next(ticks))

    # THEN
    assert (realtime_ns, monotonic_ns, error_ns) == (77, 1001, 1)


def test_a_container_with_a_monotonic_clock_of_its_own_has_its_hosts(tmp_path):
    # GIVEN
    command = ["unshare", "--time", "--monotonic", "123456", "true"]
    if shutil.which("unshare") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("this machine makes no time namespaces")
    code = "import json, pathlib, time; from tfdarshan.recording.clock_sample import clock_sample"
    code += "; print(json.dumps([time.monotonic(), clock_sample(pathlib.Path('.'))]))"

    # WHEN
    ran = subprocess.run(
        [*command[:-1], sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True
    )

    # THEN
    own_s, sample = json.loads(ran.stdout)
    here = clock_sample(tmp_path)
    differences_ns = [clock["realtime_ns"] - clock["monotonic_ns"] for clock in (sample, here)]
    assert own_s > 123_456
    assert abs(differences_ns[0] - differences_ns[1]) < 10**9
    assert sample["boot_id"] == here["boot_id"]


@pytest.mark.parametrize(
    ("text", "offset_ns"), [("monotonic  -5  7\nboottime 1 2\n", 7 - 5 * 10**9), ("", 0), ("x", 0)]
)
def test_the_offset_of_a_time_namespace(tmp_path, text, offset_ns):
    (tmp_path / "offsets").write_text(text)
    assert time_namespace_offset_ns(tmp_path / "offsets") == offset_ns
    assert time_namespace_offset_ns(tmp_path / "no such file") == 0


def test_what_is_known_better_counts(tmp_path):
    # GIVEN a file server that says 7 ms more than the host that was asked, which is within its error
    changes = [
        {"server_offset_ns": 0},
        {"host": "n1", "clock_ns": HOUR_NS, "server_offset_ns": 7_000_000 - HOUR_NS},
    ]
    session = joint_training(tmp_path, ranks(*changes), noise=0.0)
    tell(session, 1, reference="n0", offset_ns=-5, error_ns=300)

    # THEN CLOCK_MONOTONIC of both is the same at the samples
    rank = open_session(session.path).joint.ranks[1]
    assert (rank.offset_ns, rank.error_ns, rank.method) == (-HOUR_NS - 5, 500, ASKED_CLOCK)
    # ... and where it is known worse, it does not
    tell(session, 1, reference="n0", offset_ns=-5, error_ns=3_000_000)
    rank = open_session(session.path).joint.ranks[1]
    assert (rank.offset_ns, rank.error_ns) == (7_000_000 - HOUR_NS, 2_000_000)


def test_hosts_that_asked_others_do_not_know_each_other(tmp_path):
    session = joint_training(tmp_path, ranks({}, {"host": "n1"}))
    tell(session, 0, reference="a", offset_ns=0, error_ns=1)
    tell(session, 1, reference="b", offset_ns=0, error_ns=1)
    assert open_session(session.path).joint.ranks[1].method == "none"


def test_two_hosts_that_asked_a_third_know_each_other(tmp_path):
    # GIVEN
    session = joint_training(tmp_path, ranks({"clock_ns": 50}, {"host": "n1", "clock_ns": 70}))
    tell(session, 0, reference="n2", offset_ns=1_000, error_ns=30)
    tell(session, 1, reference="n2", offset_ns=1_400, error_ns=40)

    # THEN the second is 400 ns behind the first by CLOCK_MONOTONIC, whose sample it took 20 ns later
    rank = open_session(session.path).joint.ranks[1]
    assert (rank.offset_ns, rank.error_ns, rank.method) == (400 - 20, 30 + 40 + 200, ASKED_CLOCK)


def tell(session, number, **peer):
    """Write what a rank's host was told by the one that it asked."""
    (path,) = rank_folder(session.path, number).glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["job"]["clock"]["peer"] = peer
    path.write_text(json.dumps(meta))


def test_a_local_folder_says_nothing_of_a_server(tmp_path, monkeypatch):
    monkeypatch.setattr("tfdarshan.recording.clock_sample.fs_type_of", lambda _folder: "lustre")
    sample = clock_sample(tmp_path)
    assert sample["boot_id"] == boot_id()
    assert (sample["server_offset_ns"], sample["server_error_ns"]) == (None, None)


def test_a_folder_on_nfs_asks_the_server(tmp_path, monkeypatch):
    # GIVEN a "server" that has this host's clock
    monkeypatch.setattr("tfdarshan.recording.clock_sample.fs_type_of", lambda _folder: "nfs4")

    # WHEN
    sample = clock_sample(tmp_path)

    # THEN
    assert abs(sample["server_offset_ns"]) <= sample["server_error_ns"]
    assert not list(tmp_path.iterdir())


def test_the_type_of_a_file_system_is_known():
    assert fs_type_of(Path("/proc")) == "proc"


@pytest.mark.parametrize(
    ("present", "size", "missing"),
    [([0, 1, 2], 3, []), ([0, 2], 4, [1, 3]), ([0, 2], None, [1]), ([], 2, [0, 1]), ([], None, [])],
)
def test_missing_ranks(present, size, missing):
    assert missing_ranks(present, size) == missing


def test_all_times_of_a_rank_move_with_its_clock_and_what_is_no_time_does_not():
    # GIVEN times of calls, of batches and of files; -1 and 0 say that there is none
    batch = pa.RecordBatch.from_pydict({
        "start_ns": [5, 7], "request_ns": [9, -1], "POSIX_F_OPEN_START_TIMESTAMP": [0.5, 0.0],
        "POSIX_F_READ_TIME": [0.25, 0.0], "length": [3, 4],
    })  # fmt: skip

    # WHEN
    moved = _later(batch, 2 * 10**9)

    # THEN
    assert moved.to_pydict() == {
        "start_ns": [2 * 10**9 + 5, 2 * 10**9 + 7], "request_ns": [2 * 10**9 + 9, -1],
        "POSIX_F_OPEN_START_TIMESTAMP": [2.5, 0.0], "POSIX_F_READ_TIME": [0.25, 0.0], "length": [3, 4],
    }  # fmt: skip
    assert {"events", "steps", "files", "batches"} <= set(TIMED)


def test_a_rank_that_marks_its_steps_leads_those_that_mark_none(tmp_path, monkeypatch):
    # GIVEN only rank 0 marks steps, which do not say what they wait for; rank 1 reads for longer
    def columns_of(owner):
        columns = step_table.marked_columns(owner)
        if owner.meta["job"]["rank"]:
            return {name: values[:0] for name, values in columns.items()}
        return columns | {"input_wait_ns": np.full(len(columns["step"]), -1)}

    monkeypatch.setattr("tfdarshan.sessions.joint_session.marked_columns", columns_of)

    # WHEN
    session = joint_training(tmp_path, ranks({}, {"times": 3.0}), noise=0.0)

    # THEN
    assert session.joint.leading.rank == 0
