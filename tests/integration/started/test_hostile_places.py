"""Workers where a session cannot follow them, or has little room: they go on, and it says what it lacks."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

import tfdarshan
from tests.tmpfs import mounted_tmpfs
from tfdarshan.analysis.summary_data import summarize

FILES, BYTES = 20, 100
READ = "import sys; print(sum(len(open(f'{sys.argv[1]}/{n}', 'rb').read()) for n in range(20)))"
JOB = """\
import multiprocessing, os, subprocess, sys
import tfdarshan

DATA, READ = os.environ["JOB_DATA"], os.environ["JOB_READ"]

def read(number):
    with open(f"{DATA}/{number}", "rb") as file:
        return len(file.read())

def read_all():
    return sum(map(read, range(20)))

def main():
    PYTHON = [sys.executable, "-c", READ, DATA]
    with tfdarshan.profile("logs"):
BODY

if __name__ == "__main__":
    main()
"""
POOL = """\
with multiprocessing.get_context("{}").Pool(2) as pool:
    print(sum(pool.map(read, range(20))))
    pool.close()
    pool.join()
"""
PROGRAM = "print(subprocess.run(PYTHON, capture_output=True, text=True, check=True).stdout.strip())"
FORKED = """\
if not (child := os.fork()):
    os.setuid(65534)
    print(read_all(), flush=True)
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
"""
NOTHING = """\
import contextlib
profile = contextlib.nullcontext
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this")
PRIVATE_SHM = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$0" "$@"']


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_bytes(bytes(BYTES))
    return folder


@pytest.fixture
def run(python, data):
    """A function that runs a job of that body, and gives its session and what it printed.

    It must print and return what it does where our import and session do nothing.
    """

    def run(body, *, below=(), **variables):
        text = JOB.replace("BODY", "".join(f"        {line}\n" for line in body.splitlines()))
        (data.parent / "job.py").write_text(text)
        (data.parent / "without").mkdir(exist_ok=True)
        (data.parent / "without" / "tfdarshan.py").write_text(NOTHING)
        environment = {**os.environ, "JOB_DATA": str(data), "JOB_READ": READ, **variables}
        ran = [
            subprocess.run(
                [*below, python, "-W", "error", "job.py"], cwd=data.parent, env=environment | more,
                capture_output=True, text=True, timeout=200,
            )
            for more in ({}, {"PYTHONPATH": str(data.parent / "without")})
        ]  # fmt: skip
        assert [(one.returncode, one.stdout) for one in ran] == [(0, ran[1].stdout)] * 2, ran
        assert "Traceback" not in ran[0].stderr
        return tfdarshan.open_session(data.parent / "logs"), ran[0].stdout

    return run


def opens_and_bytes(session, data):
    files = session.files
    mine = files[files["path"].str.startswith(f"{data}/")]
    return int(mine["POSIX_OPENS"].sum()), int(mine["POSIX_BYTES_READ"].sum())


def only(session, words):
    (found,) = [bound for bound in session.meta[0]["bounds"] if words in bound]
    return found


LACKS = "could not be recorded"


@needs_root
def test_a_fork_that_becomes_another_user_goes_on_and_shows_as_missing(run, data):
    # GIVEN data that the other user can reach
    for folder in [data, *data.parents[:-1]]:
        if str(folder) not in ("/", "/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)

    # WHEN a child becomes another user before its first call
    session, said = run(FORKED)

    # THEN it did its work; what it read is missing in the session, whose coverage says so
    assert said == "2000\n"
    assert opens_and_bytes(session, data) == (0, 0)
    assert len(session.processes) == 1
    assert summarize(session).coverage.read.unseen >= FILES * BYTES


@needs_root
def test_a_program_in_another_namespace_of_processes_goes_on_and_is_named(run, data):
    # WHEN the interpreter of a program is one that runs them in a namespace of their own
    inside = f"""\
wrapper = f"{{os.getcwd()}}/python"
with open(wrapper, "w") as file:
    print(f'#!/bin/sh\\nexec unshare -pf {{sys.executable}} "$@"', file=file)
os.chmod(wrapper, 0o755)
PYTHON[0] = wrapper
{PROGRAM}
"""
    session, said = run(inside)

    # THEN it did its work, and the session says which it lacks
    assert said == "2000\n"
    assert opens_and_bytes(session, data) == (0, 0)
    assert only(session, LACKS).startswith("1 process that the job started")
    assert "python" in only(session, LACKS)
    assert "(could not begin its recording)" in only(session, LACKS)


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_workers_that_find_no_room_go_on_and_are_named(run, data, tmp_path, start):
    # GIVEN a folder that is filled as soon as the session has begun
    folder = tmp_path / "small"
    folder.mkdir()
    fill = """\
spools = os.environ["TFDARSHAN_SPOOL_DIR"]
with open(f"{spools}/filler", "wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError:
        pass
"""
    with mounted_tmpfs(folder, "size=24m,noexec,nosuid,nodev"):
        # WHEN
        session, said = run(fill + POOL.format(start) + 'os.remove(f"{spools}/filler")\n',
                            TFDARSHAN_SPOOL_DIR=str(folder))  # fmt: skip

    # THEN all work was done, and the session says how many processes it lacks
    assert said == "2000\n"
    assert opens_and_bytes(session, data) == (0, 0)
    assert "could not begin its recording" in only(session, LACKS)


@needs_root
def test_a_container_s_small_shared_memory_is_not_used_where_there_is_a_better_place(run, data):
    # WHEN /dev/shm has 64 MiB, as in Kubernetes, and TMPDIR has room
    session, said = run(POOL.format("spawn"), below=PRIVATE_SHM, TFDARSHAN_SPOOL_DIR="")

    # THEN
    assert said == "2000\n"
    assert opens_and_bytes(session, data) == (FILES, FILES * BYTES)
    assert not [bound for bound in session.meta[0]["bounds"] if "lowered" in bound]


@needs_root
@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_small_shared_memory_lowers_the_caps_and_is_shared_by_all(run, data, start):
    # WHEN TMPDIR has less than /dev/shm's 64 MiB, from which nothing can be executed there
    # (its path is short, as that of the forkserver's socket in it must be)
    with tempfile.TemporaryDirectory() as name, mounted_tmpfs(Path(name), "size=20m,noexec"):
        session, said = run(POOL.format(start), below=PRIVATE_SHM, TFDARSHAN_SPOOL_DIR="", TMPDIR=name)

    # THEN all was recorded, and the session says that its caps were lowered
    assert said == "2000\n"
    assert opens_and_bytes(session, data) == (FILES, FILES * BYTES)
    assert "memory_cap_mb lowered from 1024 to 6" in only(session, "lowered")
    assert "the spool folder /dev/shm has 6" in only(session, "lowered")
    assert session.problems == []
