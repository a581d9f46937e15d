"""The memory cap holds for all processes of a session together, and totals stay exact beyond it."""

import json
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


# Has so many children, one after the other, that end in this way; opens so many files itself; and says what
# all spools take, with the processes. A program of its own: to fork the process of all tests takes very long.
JOB = """
import contextlib, ctypes, json, os, pathlib, signal, sys, tfdarshan
data, logs, spools, how, children, files = sys.argv[1:]
ends = {
    "_exit": lambda: os._exit(0),
    "exit": lambda: ctypes.CDLL(None).exit(0),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
}
ended = []
with tfdarshan.profile(logs, engine="builtin", memory_cap_mb=16, spool_dir=spools):
    for _ in range(int(children)):
        child = os.fork()
        if not child:
            os.close(os.open(f"{data}/00000", os.O_RDONLY))
            with contextlib.suppress(PermissionError):
                os.execv("/", ["a folder is no program"])
            os.close(os.open(f"{data}/00001", os.O_RDONLY))
            ends[how]()
        ended.append(child)
        assert os.waitpid(child, 0)[1] == (signal.SIGKILL if how == "kill" else 0)
    for number in range(int(files)):
        os.close(os.open(f"{data}/{number:05}", os.O_RDONLY))
    used = sum(path.stat().st_blocks * 512 for path in pathlib.Path(spools).rglob("*.spool"))
print(json.dumps([used, os.getpid(), ended]))
"""


def run_job(data, folder, how, children, files):
    """Run it; return what spools took, the processes and the session."""
    spools = folder / "spools"
    spools.mkdir()
    words = [data, folder / "logs", spools, how, str(children), str(files)]
    said = subprocess.run(
        [sys.executable, "-c", JOB, *words], stdout=subprocess.PIPE, check=True, timeout=120
    )
    return *json.loads(said.stdout), tfdarshan.open_session(folder / "logs")


@pytest.mark.parametrize("how", ["_exit", "exit", "exec"])
def test_children_that_have_ended_leave_the_room_that_they_did_not_use(data, tmp_path, how):
    # GIVEN a session of a job that starts one child after the other, as loaders do for each epoch
    # WHEN the job itself then opens many files
    used, job, ended, session = run_job(data, tmp_path, how, 150, FILES // 2)

    # THEN there is room for them, and nothing of what children did is missing
    assert used <= 16 * MIB
    files = session.files
    assert not files["path"].str.contains("beyond memory_cap_mb").any()
    opens = files[files["path"].str.startswith(f"{data}/")].groupby("pid")["POSIX_OPENS"].sum()
    assert opens.to_dict() == {job: FILES // 2, **dict.fromkeys(ended, 2)}


def test_a_job_that_starts_ever_more_processes_takes_twice_the_cap_at_most(data, tmp_path):
    # WHEN children are killed, so that they give nothing back
    children = 250
    used, _, _, session = run_job(data, tmp_path, "kill", children, 0)

    # THEN those for which there was no room are told, each once
    meta = session.meta
    left_out = children - (len(meta) - 1)
    assert 16 * MIB < used <= 32 * MIB
    assert 0 < left_out < children
    said = f"{left_out} processes that the job started could not be recorded"
    assert any(sentence.startswith(said) for sentence in meta[0]["bounds"])
