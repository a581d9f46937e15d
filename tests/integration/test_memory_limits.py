"""Under limits of memory a job runs as it does without tfdarshan, and what is recorded of it is exact."""

import json
import os
import random
import resource
import subprocess
import sys

import pytest

import tfdarshan
from tests.memory_cgroup import in_group, limited_memory
from tfdarshan.commands import main

MIB = 1 << 20
# Holds memory, makes reads, and holds more; each in MiB, or a number of reads.
JOB = """
import os, sys
path, before, reads, after = sys.argv[1], *map(int, sys.argv[2:5])
first = b"x" * (before << 20)
handle = os.open(path, os.O_RDONLY)
for _ in range(reads):
    os.pread(handle, 16, 0)
os.close(handle)
second = b"x" * (after << 20)
print("done", len(first) + len(second))
"""


@pytest.fixture
def shared_memory(monkeypatch):
    """The spool is where it is by default."""
    monkeypatch.delenv("TFDARSHAN_SPOOL_DIR")


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "data.bin").write_bytes(bytes(4096))
    return [str(tmp_path / "job.py"), str(tmp_path / "data.bin")]


def run(command, tmp_path, **options):
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, **options)


def recorded(tmp_path):
    session = tfdarshan.open_session(tmp_path / "logs")
    row = session.files[session.files["path"] == str(tmp_path / "data.bin")]
    return session, row["POSIX_READS"].tolist()


PROFILED = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_random_jobs_in_small_control_groups_are_not_killed(tmp_path, shared_memory, job, seed):
    # GIVEN a job that needs 40 to 85 % of what it may have, some before its reads
    draw = random.Random(seed)
    limit_mb = draw.randint(200, 1000)
    held_mb = int(limit_mb * draw.uniform(0.4, 0.85)) - 20
    before_mb = draw.randint(0, held_mb)
    reads = draw.choice([1_000, 100_000, 1_000_000, 4_000_000])
    arguments = [*job, *map(str, (before_mb, reads, held_mb - before_mb))]

    # WHEN
    with limited_memory(limit_mb * MIB) as group:
        done = run(in_group(group, [*PROFILED, *arguments]), tmp_path)

    # THEN
    said = (limit_mb, held_mb, before_mb, reads, done.stderr)
    assert (done.returncode, done.stdout) == (0, f"done {held_mb * MIB}\n"), said
    assert "was not written" not in done.stderr or "control group leaves" in done.stderr
    main(["recover", str(tmp_path / "logs")])
    assert recorded(tmp_path)[1] == [reads], said


def test_a_group_that_fills_after_the_start_ends_the_trace(tmp_path, shared_memory, job):
    # GIVEN a recording that may take 36 MiB at its start, and a job that holds 180 of 300 MiB then
    options = ["--memory-cap-mb", "64", "--trace-memory-mb", "64"]
    reads = 1_500_000

    # WHEN
    with limited_memory(300 * MIB) as group:
        done = run(in_group(group, [*PROFILED, *options, *job, "180", str(reads), "0"]), tmp_path)

    # THEN
    assert (done.returncode, done.stdout) == (0, f"done {180 * MIB}\n"), done.stderr
    main(["recover", str(tmp_path / "logs")])
    session, counted = recorded(tmp_path)
    assert counted == [reads]
    assert session.meta[0]["counts"]["spool_bytes"] < 20 * MIB
    bounds = " ".join(session.meta[0]["bounds"])
    assert "the job's control group leaves" in bounds
    assert "the trace was full (the job's control group had no more memory to spare)" in bounds
    # AND the recording seldom asks what the group has left: near its limit that takes a millisecond
    assert session.meta[0]["kernel"]["syscr"] - reads < reads / 100


def test_a_session_is_kept_if_writing_it_would_kill_the_job(tmp_path, shared_memory, job):
    # GIVEN a job that leaves less than what writing takes
    with limited_memory(300 * MIB) as group:
        done = run(in_group(group, [*PROFILED, *job, "0", "100000", "255"]), tmp_path)

    # THEN
    assert (done.returncode, done.stdout) == (0, f"done {255 * MIB}\n"), done.stderr
    assert "was not written: the job's control group leaves" in done.stderr
    assert main(["recover", str(tmp_path / "logs")]) == 0
    assert recorded(tmp_path)[1] == [100_000]


@pytest.mark.parametrize("limit_mb", [400, 1000])
def test_limited_address_space_lowers_the_cap(tmp_path, shared_memory, job, limit_mb):
    # WHEN
    limit = (limit_mb * MIB, limit_mb * MIB)
    done = run(
        [*PROFILED, *job, "50", "1000", "0"],
        tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )

    # THEN
    assert (done.returncode, done.stdout) == (0, f"done {50 * MIB}\n"), done.stderr
    main(["recover", str(tmp_path / "logs")])
    session, counted = recorded(tmp_path)
    assert counted == [1000]
    assert any("`ulimit -v` leaves" in bound for bound in session.meta[0]["bounds"])


LOCKED = """
import ctypes, json, os, sys, tfdarshan
libc = ctypes.CDLL(None, use_errno=True)
CURRENT, FUTURE = 1, 2

def locked_mb():
    sizes, mine = {}, False
    for line in open("/proc/self/smaps"):
        if "-" in line.split(" ")[0]:
            mine = line.rstrip().endswith(".spool")
        elif mine and line.split(":")[0] in ("Rss", "Locked"):
            sizes[line.split(":")[0]] = sizes.get(line.split(":")[0], 0) + int(line.split()[1]) / 1024
    return sizes

if sys.argv[1] == "before":
    assert libc.mlockall(CURRENT | FUTURE) == 0
with tfdarshan.profile("logs") as session:
    if sys.argv[1] == "within":
        assert libc.mlockall(CURRENT | FUTURE) == 0
    handle = os.open(sys.argv[2], os.O_RDONLY)
    for _ in range(80):
        os.pread(handle, 16, 0)
    sizes = locked_mb()
    assert libc.munlockall() == 0
print(json.dumps(sizes))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="locking all memory needs root")
@pytest.mark.parametrize("moment", ["before", "within"])
def test_a_host_that_locks_its_memory_locks_what_is_used_of_a_spool(tmp_path, shared_memory, job, moment):
    # WHEN
    done = run([sys.executable, "-c", LOCKED, moment, job[1]], tmp_path)

    # THEN
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    assert 0 < sizes["Rss"] < 4
    assert sizes["Locked"] < 4
    assert recorded(tmp_path)[1] == [80]
