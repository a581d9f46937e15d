"""A job is advised as many readers by `tfdarshan run` as by `profile()` within it."""

import json
import os
import subprocess
import sys

import pytest

import tfdarshan

FILES, BYTES = 160, 100_000
TF_DATA = """
import sys, time
import tensorflow as tf

def work(folder):
    paths = [f"{folder}/{number:03}" for number in range(160)]
    data = tf.data.Dataset.from_tensor_slices(paths)
    data = data.map(lambda path: tf.strings.length(tf.io.read_file(path))).batch(8).prefetch(2)
    for _ in data:
        time.sleep(0.005)
"""
THREADS = """
import sys, time
from concurrent.futures import ThreadPoolExecutor

def read(path):
    with open(path, "rb") as file:
        return len(file.read())

def work(folder):
    paths = [f"{folder}/{number:03}" for number in range(160)]
    with ThreadPoolExecutor(2) as pool:
        for first in range(0, len(paths), 8):
            sum(pool.map(read, paths[first : first + 8]))
            time.sleep(0.005)
"""
WHOLE = "work(sys.argv[1])\n"
WITHIN = """
import tfdarshan
with tfdarshan.profile(sys.argv[2], as_if="bucket", as_if_paths=[sys.argv[1]]):
    work(sys.argv[1])
"""


def advised(folder, *command):
    """Run a job that leaves a session in `folder/logs`, and return the lines to change for more readers."""
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = subprocess.run(
        [sys.executable, "-m", "tfdarshan", "findings", "--json", "logs"],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    files = tfdarshan.open_session(folder / "logs").files
    read = files[files["path"].str.startswith(f"{folder.parent}/data/")]
    assert int(read["POSIX_BYTES_READ"].sum()) == FILES * BYTES
    found = {one["name"]: one for one in json.loads(said.stdout)["findings"]}
    return found["read_parallelism"]["cure"]["line"]


@pytest.mark.parametrize(
    ("job", "asks"),
    [
        pytest.param(TF_DATA, "num_parallel_calls=", marks=pytest.mark.long, id="tf.data"),
        pytest.param(THREADS, "ThreadPoolExecutor(", id="threads"),
    ],
)
def test_run_and_the_context_manager_advise_the_same(tmp_path, job, asks):
    # GIVEN files on late storage, and a job of two readers
    data = tmp_path / "data"
    for folder in ("data", "run", "within"):
        (tmp_path / folder).mkdir()
    for number in range(FILES):
        (data / f"{number:03}").write_bytes(bytes(BYTES))
    (tmp_path / "run" / "job.py").write_text(job + WHOLE)
    (tmp_path / "within" / "job.py").write_text(job + WITHIN)

    # WHEN
    late = ["--as-if", "bucket", "--as-if-paths", str(data)]
    by_run = advised(tmp_path / "run", "-m", "tfdarshan", "run", *late, "job.py", str(data))
    by_profile = advised(tmp_path / "within", "job.py", str(data), "logs")

    # THEN
    assert by_run == by_profile
    assert asks in by_run
