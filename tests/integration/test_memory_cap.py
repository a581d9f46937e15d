"""The memory cap holds for all processes of a session together, and totals stay exact beyond it."""

import contextlib
import ctypes
import os
import subprocess
import sys

import pytest

import tfdarshan

MIB = 1 << 20
FILES, READS, TRACE_MB = 10_000, 30_000, 1
# Each process may use so much though the others have used all of it: TFD_LEAST_SPOOL_BYTES of memory_cap.h.
LEAST_BYTES = MIB

# Opens 10,000 files, makes 30,000 reads of one, says so, and ends when it is told to.
WORK = f"""
import os, sys
data, done, gate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for number in range({FILES}):
    os.close(os.open(f"{{data}}/{{number:05}}", os.O_RDONLY))
handle = os.open(f"{{data}}/00000", os.O_RDONLY)
for _ in range({READS}):
    os.pread(handle, 1, 0)
os.close(handle)
os.write(done, b".")
os.read(gate, 1)
"""


def forked(data, done, gate):
    """Start a worker by fork; return what waits for its end."""
    child = os.fork()
    if not child:
        try:
            sys.argv = ["", str(data), str(done), str(gate)]
            exec(WORK, {})  # the same program, in this process
        finally:
            os._exit(0)
    return lambda: os.waitpid(child, 0)


def started(data, done, gate):
    """Start a worker as a program of its own."""
    command = [sys.executable, "-c", WORK, str(data), str(done), str(gate)]
    return subprocess.Popen(command, pass_fds=(done, gate)).wait


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:05}").touch()
    (folder / "00000").write_bytes(b"x")
    return folder


@pytest.mark.parametrize(
    ("start", "children", "cap_mb"),
    [
        (forked, 6, 16),
        pytest.param(started, 6, 16, marks=pytest.mark.long),
        pytest.param(started, 64, 128, marks=pytest.mark.long),
    ],
)
def test_children_share_the_caps_and_totals_stay_exact(data, tmp_path, start, children, cap_mb):
    # GIVEN children of which half alone fill the cap, and two the trace's part of it
    spools = tmp_path / "spools"
    spools.mkdir()
    done, told_done = os.pipe()
    gate, open_gate = os.pipe()

    # WHEN
    options = {"memory_cap_mb": cap_mb, "trace_memory_mb": TRACE_MB, "spool_dir": spools}
    with tfdarshan.profile(tmp_path / "logs", engine="builtin", **options) as session:
        waits = [start(data, told_done, gate) for _ in range(children)]
        os.close(told_done)
        assert [os.read(done, 1) for _ in waits] == [b"."] * children
        used = sum(path.stat().st_blocks * 512 for path in spools.rglob("*.spool"))
        os.write(open_gate, b"." * children)
        for wait in waits:
            wait()
    for descriptor in (done, gate, open_gate):
        os.close(descriptor)

    # THEN
    assert cap_mb * MIB / 2 < used <= cap_mb * MIB + (children + 1) * LEAST_BYTES
    paths = session.files["path"]
    ours = session.files[paths.str.startswith(f"{data}/") | paths.str.contains("beyond memory_cap_mb")]
    assert ours["POSIX_READS"].sum() == ours["POSIX_BYTES_READ"].sum() == children * READS
    assert ours["POSIX_OPENS"].sum() == children * (FILES + 1)
    counts = [meta["counts"] for meta in session.meta]
    assert len(counts) == children + 1
    assert all(one["segments"] + one["events_dropped"] == one["events"] for one in counts)
    assert sum(one["segments"] for one in counts) < children * READS / 2
    bounds = [sentence for meta in session.meta for sentence in meta["bounds"]]
    assert any("segments were dropped: the trace was full" in sentence for sentence in bounds)
    assert any("found no room for a row" in sentence for sentence in bounds)


def become_another(_code):
    os.execv("/bin/true", ["true"])


@pytest.mark.parametrize(
    "end", [os._exit, ctypes.CDLL(None).exit, become_another], ids=["_exit", "exit", "exec"]
)
def test_children_that_have_ended_leave_the_room_that_they_did_not_use(data, tmp_path, end):
    # GIVEN a session of a job that starts one child after the other, as loaders do for each epoch
    children, ended, spools = 150, [], tmp_path / "spools"
    spools.mkdir()
    options = {"memory_cap_mb": 16, "spool_dir": spools}
    with tfdarshan.profile(tmp_path / "logs", engine="builtin", **options) as session:
        for _ in range(children):
            child = os.fork()
            if not child:
                os.close(os.open(data / "00000", os.O_RDONLY))
                with contextlib.suppress(PermissionError):
                    os.execv("/", ["a folder is no program"])
                os.close(os.open(data / "00001", os.O_RDONLY))
                end(0)
            ended.append(child)
            os.waitpid(child, 0)

        # WHEN the job itself opens many files
        for number in range(FILES // 2):
            os.close(os.open(data / f"{number:05}", os.O_RDONLY))
        used = sum(path.stat().st_blocks * 512 for path in spools.rglob("*.spool"))

    # THEN there is room for them, and nothing of what children did is missing
    assert used <= 16 * MIB
    files = session.files
    assert not files["path"].str.contains("beyond memory_cap_mb").any()
    opens = files[files["path"].str.startswith(f"{data}/")].groupby("pid")["POSIX_OPENS"].sum()
    assert opens.to_dict() == {os.getpid(): FILES // 2, **dict.fromkeys(ended, 2)}


# Has so many children that are killed, so that they give nothing back; then says what all spools take.
KILLED = """
import os, pathlib, signal, sys, tfdarshan
data, logs, spools, children = sys.argv[1:]
with tfdarshan.profile(logs, engine="builtin", memory_cap_mb=16, spool_dir=spools):
    for _ in range(int(children)):
        child = os.fork()
        if not child:
            os.close(os.open(f"{data}/00000", os.O_RDONLY))
            os.kill(os.getpid(), signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    print(sum(path.stat().st_blocks * 512 for path in pathlib.Path(spools).rglob("*.spool")))
"""


def test_a_job_that_starts_ever_more_processes_takes_twice_the_cap_at_most(data, tmp_path):
    # WHEN
    children, spools = 250, tmp_path / "spools"
    spools.mkdir()
    command = [sys.executable, "-c", KILLED, data, tmp_path / "logs", spools, str(children)]
    used = int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)

    # THEN those for which there was no room are told, each once
    meta = tfdarshan.open_session(tmp_path / "logs").meta
    left_out = children - (len(meta) - 1)
    assert 16 * MIB < used <= 32 * MIB
    assert 0 < left_out < children
    said = f"{left_out} processes that the job started could not be recorded"
    assert any(sentence.startswith(said) for sentence in meta[0]["bounds"])
