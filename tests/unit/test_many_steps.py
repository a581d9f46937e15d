"""Steps without a limit: rows in the spool folder, whose number takes no memory of the job."""

import itertools
import os
import resource
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import tfdarshan
from tests.tmpfs import mounted_tmpfs
from tfdarshan.commands import main
from tfdarshan.frameworks import batch_log
from tfdarshan.frameworks.batch_log import STEP_CALLS
from tfdarshan.frameworks.batch_rows import FIRST_ROW, HEADER, MAGIC, REQUEST, read_rows
from tfdarshan.frameworks.marked_steps import marked_steps
from tfdarshan.recording.steps import StepLog

MANY = 150_000
KILLED = """
import os, signal, sys, tfdarshan
tfdarshan.profile(sys.argv[1]).start()
for number in range(3_000):
    with tfdarshan.step(number):
        pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def log(tmp_path):
    """A log whose steps are noted below a folder."""
    batch_log.begin(tmp_path)
    yield StepLog(lambda: None)
    batch_log.end()


def noted(folder, pid=None):
    found = marked_steps(folder, pid or os.getpid())
    return None if found is None else np.concatenate(list(found.blocks))


def mark(log, count):
    for _ in range(count):
        log.begin(None, STEP_CALLS)
    log.end()


def fill(path):
    filler = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        while True:
            os.write(filler, bytes(4096))
    finally:
        os.close(filler)


def test_every_step_keeps_its_times(log, tmp_path):
    # GIVEN a clock that goes on by 1 ns whenever it is read
    clock = itertools.count(1_000)
    log = StepLog(lambda: None, now=lambda: next(clock))

    # WHEN
    mark(log, MANY)

    # THEN
    steps = noted(tmp_path)
    assert np.array_equal(steps["step"], np.arange(MANY))
    assert np.array_equal(steps["start_ns"], 1_000 + np.arange(MANY))
    assert np.array_equal(steps["end_ns"], 1_001 + np.arange(MANY))


def test_a_session_has_them_all(tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path) as session:
        for _ in tfdarshan.steps(range(MANY)):
            pass

    # THEN
    steps = session.steps
    assert np.array_equal(steps["step"], np.arange(MANY))
    assert (steps["end_ns"][:-1].to_numpy() == steps["start_ns"][1:].to_numpy()).all()
    assert "steps" not in session.meta[0]


def test_their_number_takes_no_memory(log, tmp_path):
    # GIVEN
    mark(log, 5_000)

    # WHEN
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    mark(log, 20_000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    # THEN it grew by less than a byte a step, and no more than two parts of the file are mapped
    assert grown < 20_000
    with open("/proc/self/maps") as maps:
        assert 1 <= sum(str(tmp_path) in line for line in maps) <= 2


def test_a_killed_job_has_the_steps_that_ended(tmp_path, capsys):
    # WHEN
    job = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert job.returncode == -signal.SIGKILL
    assert main(["recover", str(tmp_path)]) == 0

    # THEN
    assert tfdarshan.open_session(tmp_path).steps["step"].tolist() == list(range(3_000))


def test_a_full_disk_ends_the_recording_of_steps(tmp_path):
    # GIVEN a spool folder that fills up
    (tmp_path / "small").mkdir()
    with mounted_tmpfs(tmp_path / "small", "size=20m"):
        with tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path / "small") as session:
            with tfdarshan.step():
                pass
            # WHEN
            with pytest.raises(OSError, match="No space left"):
                fill(tmp_path / "small" / "filler")
            for _ in tfdarshan.steps(range(5_000)):
                pass
            (tmp_path / "small" / "filler").unlink()

    # THEN those of the part of the file that was there are kept, and one sentence says so
    assert session.steps["step"].tolist() == list(range(1_023))
    (said,) = [bound for bound in session.meta[0]["bounds"] if "steps" in bound]
    assert said == (
        "3,978 batches or steps found no room in the spool folder: name a larger one with spool_dir"
    )


def test_a_limit_on_the_size_of_files_ends_it_without_a_signal(log, tmp_path):
    # WHEN
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    mark(log, 5_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    # THEN
    (process,) = read_rows(tmp_path)
    assert (len(noted(tmp_path)), process.left_out) == (3_071, 5_000 - 3_071)


def test_a_forked_process_has_no_steps_of_the_session(log, tmp_path):
    # GIVEN
    mark(log, 1_000)

    # WHEN
    child = os.fork()
    if child == 0:
        mark(log, 5_000)
        os._exit(0)
    os.waitpid(child, 0)
    mark(log, 1_000)

    # THEN
    assert noted(tmp_path)["step"].tolist() == list(range(2_000))
    assert len(list(tmp_path.iterdir())) == 1


def test_batches_of_an_earlier_version_are_read(tmp_path):
    # GIVEN
    header = np.array((MAGIC, 1, FIRST_ROW.itemsize, 2, 0, 7), HEADER).tobytes().ljust(64, b"\0")
    rows = np.zeros(2, FIRST_ROW)
    rows["kind"], rows["begin_ns"] = REQUEST, [20, 10]
    (tmp_path / "7.1.batches").write_bytes(header + rows.tobytes())

    # THEN
    (process,) = read_rows(tmp_path)
    assert (process.pid, process.rows["begin_ns"].tolist()) == (7, [10, 20])
