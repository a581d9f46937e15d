import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.units import exact_bytes, human_bytes


def write(path, size):
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)
    os.write(handle, bytes(size))
    os.close(handle)


def rows_of(session, path):
    files = session.files
    return files[files["path"] == str(path)]


@pytest.mark.parametrize("end", ["os._exit", "SIGKILL"])
def test_forked_child_is_in_the_session_however_it_ends(tmp_path, end):
    # GIVEN
    path = tmp_path / "child.bin"

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        if child == 0:
            write(path, 2_222)
            if end == "SIGKILL":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(0)
        os.waitpid(child, 0)

    # THEN
    rows = rows_of(session, path)
    assert rows["pid"].tolist() == [child]
    assert rows["POSIX_BYTES_WRITTEN"].tolist() == [2_222]
    assert [meta["pid"] for meta in session.meta] == [os.getpid(), child]
    assert session.meta[1]["parent_pid"] == os.getpid()
    events = session.events
    assert set(events.loc[events["path"] == str(path), "pid"]) == {child}


def test_times_of_children_are_on_the_sessions_clock(tmp_path):
    # WHEN a child starts 200 ms into the session
    with tfdarshan.profile(tmp_path / "logs") as session:
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            write(tmp_path / "child.bin", 10)
            os._exit(0)
        os.waitpid(child, 0)

    # THEN
    started_s = rows_of(session, tmp_path / "child.bin")["POSIX_F_OPEN_START_TIMESTAMP"].item()
    assert 0.2 <= started_s <= session.meta[0]["duration_ns"] / 1e9
    events = session.events
    of_file = (events["pid"] == child) & (events["path"] == str(tmp_path / "child.bin"))
    assert events.loc[of_file, "start_ns"].min() == pytest.approx(started_s * 1e9, abs=10_000)


# Sets the clock forward by an hour while a session records, then has a fork and a program read a file.
CLOCK_IS_SET = """
import os, subprocess, sys, tfdarshan
read = "import sys; open(sys.argv[1], 'rb').read()"
with tfdarshan.profile(sys.argv[2]):
    os.environ["CLOCK_REALTIME_AHEAD_NS"] = str(3600 * 10**9)
    child = os.fork()
    if not child:
        exec(read)
        os._exit(0)
    os.waitpid(child, 0)
    subprocess.run([sys.executable, "-c", read, sys.argv[1]], check=True)
"""


def test_a_clock_that_is_set_meanwhile_moves_no_child(tmp_path):
    # GIVEN
    clock, path = tmp_path / "clock.so", tmp_path / "data.bin"
    source = Path(__file__).parents[1] / "other_clock.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", clock, source], check=True)
    path.write_bytes(bytes(1_000))

    # WHEN
    environment = {**os.environ, "LD_PRELOAD": str(clock)}
    command = [sys.executable, "-c", CLOCK_IS_SET, path, tmp_path / "logs"]
    began_s = time.monotonic()
    subprocess.run(command, env=environment, check=True, timeout=60)
    took_ns = (time.monotonic() - began_s) * 1e9

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    starts_ns = [meta["start_ns"] for meta in session.meta]
    assert len(starts_ns) == 3
    assert 0 == starts_ns[0] < starts_ns[1] < starts_ns[2] < took_ns
    assert session.events["end_ns"].max() < took_ns


def test_a_file_that_several_processes_read_is_one_file(tmp_path):
    # GIVEN
    paths = [tmp_path / f"{number}.bin" for number in range(5)]
    for path in paths:
        write(path, 100)

    # WHEN three children read the same files
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                for path in paths:
                    handle = os.open(path, os.O_RDONLY)
                    os.read(handle, 100)
                    os.close(handle)
                os._exit(0)
            os.waitpid(child, 0)

    # THEN the summary counts each once, as the table of files does
    data = summarize(session.session)
    assert data.processes == 4
    assert data.posix.opens == 15
    assert data.files == session.files["path"].nunique() == 5


def test_files_says_which_process_a_row_is_of(tmp_path, capsys):
    # GIVEN
    path = tmp_path / "data.bin"
    write(path, 100)

    # WHEN two children read a file
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in range(2):
            child = os.fork()
            if child == 0:
                os.close(os.open(path, os.O_RDONLY))
                os._exit(0)
            os.waitpid(child, 0)

    # THEN each row names its reader
    assert main(["files", str(session.path)]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if str(path) in line]
    assert sorted(row.partition(str(path))[2] for row in rows) == [" (worker 1)", " (worker 2)"]


def test_pool_of_workers_is_in_the_session(tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        with multiprocessing.get_context("fork").Pool(4) as pool:
            pool.starmap(write, [(tmp_path / f"{number}.bin", 3_333) for number in range(40)], chunksize=5)
            pool.close()
            pool.join()

    # THEN
    files = session.files
    mine = files[files["path"].str.endswith(".bin")]
    assert len(mine) == 40
    assert (mine["POSIX_BYTES_WRITTEN"] == 3_333).all()
    assert os.getpid() not in set(mine["pid"])


def test_coverage_counts_a_child_once(tmp_path):
    # GIVEN
    (tmp_path / "data.bin").write_bytes(bytes(20_000_000))

    # WHEN parent and child read it
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        (tmp_path / "data.bin").read_bytes()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    # THEN
    read = summarize(session.session).coverage.read
    assert read.in_tables == 40_000_000
    assert read.kernel == pytest.approx(40_000_000, rel=0.01)


def charged_bytes(pid):
    """Return what the kernel charged to a process so far: rchar."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def test_coverage_has_what_the_first_call_of_a_child_moves(tmp_path):
    # GIVEN a file that a child inherits open
    path = tmp_path / "data.bin"
    write(path, 1_000_000)
    handle = os.open(path, os.O_RDONLY)

    # WHEN the child's first call reads it
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        if child == 0:
            os.read(handle, 1_000_000)
            os._exit(0)
        os.waitpid(child, 0)
    os.close(handle)

    # THEN the kernel's count has it, and the child did nothing before that
    coverage = summarize(session.session).coverage
    assert not coverage.incomplete
    assert coverage.read.earlier == 0
    assert coverage.read.kernel >= coverage.read.accounted >= 1_000_000


def test_a_living_program_does_not_hide_what_the_kernel_charged(tmp_path):
    # GIVEN
    data = tmp_path / "data.bin"
    data.write_bytes(bytes(50_000_000))
    (tmp_path / "small.bin").write_bytes(bytes(3_000_000))
    ready, done = os.pipe(), os.pipe()
    wait_for_end = (
        f"cat {tmp_path}/small.bin >/dev/null; echo x >/dev/fd/{ready[1]}; read end </dev/fd/{done[0]}"
    )
    for end in (ready[1], done[0]):
        os.set_inheritable(end, True)

    # WHEN one child becomes another program and lives on, and a program that was waited for reads 50 MB
    with tfdarshan.profile(tmp_path / "logs") as session:
        before = charged_bytes("self")
        child = os.fork()
        if child == 0:
            (tmp_path / "small.bin").read_bytes()
            os.execv("/bin/sh", ["sh", "-c", wait_for_end])
        subprocess.run(["cat", data], stdout=subprocess.DEVNULL, check=True)
        os.read(ready[0], 1)
        charged = charged_bytes("self") - before
        alive = charged_bytes(child)
    read = summarize(session.session).coverage.read
    diagnosis = diagnose(session.session)
    text = session.summary(verbose=True)
    os.write(done[1], b"\n")
    assert os.waitpid(child, 0)[1] == 0
    for end in (*ready, *done):
        os.close(end)

    # THEN the comparison is of what the kernel charged to this process: not what the living child read
    assert alive >= 6_000_000
    assert read.kernel == pytest.approx(charged, abs=100_000)
    assert read.uncharged == 3_000_000
    assert 50_000_000 <= read.unseen <= charged
    assert summarize(session.session).coverage.processes_left_out == 1
    # THEN everything says so
    first = diagnosis.findings[0]
    unseen, charged_text = human_bytes(read.unseen), human_bytes(read.kernel)
    assert (first.name, first.title) == (
        "low_coverage", f"at least {unseen} of {charged_text} read were not recorded"
    )  # fmt: skip
    assert "not recorded, at least" in [row.label for row in first.evidence]
    assert f"not seen, at least                    {exact_bytes(read.unseen)}" in text
    assert "No figure counts 1 process" in text
    assert any(note.startswith("At least ") for note in diagnosis.verdict.notes)


def test_child_that_makes_no_calls_is_only_counted(run_python, tmp_path):
    # WHEN in an interpreter of its own: what other tests imported may make calls whenever a process forks
    ran = run_python(
        "-c",
        "import os, tfdarshan\n"
        "with tfdarshan.profile('logs'):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n",
    )

    # THEN
    assert ran.returncode == 0, ran.stderr
    assert len(tfdarshan.open_session(tmp_path / "logs").meta) == 1


def test_children_can_be_left_out(tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs", follow_children=False) as session:
        child = os.fork()
        if child == 0:
            write(tmp_path / "child.bin", 10)
            os._exit(0)
        os.waitpid(child, 0)

    # THEN
    assert len(session.meta) == 1
    assert len(rows_of(session, tmp_path / "child.bin")) == 0


def test_child_that_leaves_the_block_does_not_write_the_session(tmp_path):
    # WHEN parent and child both run the end of the block
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        write(tmp_path / f"{'child' if child == 0 else 'parent'}.bin", 77)
        if child:
            os.waitpid(child, 0)
    if child == 0:
        os._exit(0 if not list(session.path.glob("*.meta.json")) else 9)

    # THEN
    assert len(rows_of(session, tmp_path / "child.bin")) == 1
    assert len(rows_of(session, tmp_path / "parent.bin")) == 1


def test_a_session_that_a_child_starts_is_its_parents(tmp_path):
    # WHEN a worker's function has a session, as it has where it runs alone
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        if child == 0:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                with tfdarshan.profile(tmp_path / "own") as own:
                    write(tmp_path / "child.bin", 10)
            said = [str(one.message) for one in warned if "process that started it" in str(one.message)]
            os._exit(3 if said and own.path == session.path else 4)
        status = os.waitpid(child, 0)[1]

    # THEN the worker goes on, as one that is spawned does, and what it does is recorded once
    assert os.waitstatus_to_exitcode(status) == 3
    assert rows_of(session, tmp_path / "child.bin")["POSIX_BYTES_WRITTEN"].tolist() == [10]
    assert not (tmp_path / "own").exists()


def test_child_alive_at_the_end_has_what_it_did_until_then(tmp_path):
    # GIVEN
    wrote, done = os.pipe(), os.pipe()

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        if child == 0:
            write(tmp_path / "child.bin", 4_444)
            os.write(wrote[1], b"x")
            os.read(done[0], 1)
            os._exit(0)
        os.read(wrote[0], 1)

    # THEN
    assert rows_of(session, tmp_path / "child.bin")["POSIX_BYTES_WRITTEN"].tolist() == [4_444]
    os.write(done[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    for end in (*wrote, *done):
        os.close(end)
