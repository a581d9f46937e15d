"""Two processes of one host record into one logdir: TensorFlow names their traces by host and second."""

import json
import os
import subprocess
import sys
import time

import pytest

import tfdarshan
from tests.integration.tensorflow.conftest import PRELUDE
from tests.lean_tensorflow import WITHOUT_KERAS

BATCHES = {"first": 5, "second": 9}

JOB = (
    PRELUDE.format(before="")
    + """
name, batches = sys.argv[1], int(sys.argv[2])
read_all()
open(f"{name}.ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
with tfdarshan.profile("logs") as session:
    files = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file)
    for batch in files.repeat().batch(4).take(batches):
        time.sleep(0.005)
    open(f"{name}.done", "w").close()
    while len(glob.glob("*.done")) < 2:
        time.sleep(0.01)
    # both ask for their trace at the beginning of the same second
    time.sleep(1.2 - time.time() % 1)
print(json.dumps(str(session.path)))
"""
)


@pytest.fixture(scope="module")
def sessions(shared_job):
    """Run both at once; return their sessions by name."""
    folder = shared_job.folder / "two"
    folder.mkdir()
    (folder / "data").symlink_to(shared_job.folder / "data")
    jobs = {
        name: subprocess.Popen(
            [sys.executable, "-c", JOB, name, str(batches)],
            cwd=folder,
            env={
                **os.environ,
                **WITHOUT_KERAS,
                "TFDARSHAN_SPOOL_DIR": str(shared_job.spool),
                "CUDA_VISIBLE_DEVICES": "-1",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, batches in BATCHES.items()
    }
    while len(list(folder.glob("*.ready"))) < 2:
        assert all(job.poll() is None for job in jobs.values())
        time.sleep(0.05)
    (folder / "go").touch()
    said = {name: job.communicate()[0] for name, job in jobs.items()}
    assert all(job.returncode == 0 for job in jobs.values())
    paths = {name: json.loads(text.splitlines()[-1]) for name, text in said.items()}
    return {name: tfdarshan.open_session(folder / path) for name, path in paths.items()}


@pytest.mark.parametrize("name", list(BATCHES))
def test_steps_are_the_process_s_own(sessions, name):
    # GIVEN a loop that asks for its batches, and once more for the end
    assert len(sessions[name].steps) == BATCHES[name]


def test_no_two_sessions_name_one_trace(sessions):
    assert len({session.meta[0]["tensorflow"]["trace"] for session in sessions.values()}) == len(BATCHES)
