"""What workers do that are older than a session: file by file, as strace sees it."""

import importlib.util
import os

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import marker, tally, window

pytestmark = [
    pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="/dev/shm cannot be written"),
    pytest.mark.skipif(not strace_log.is_available(), reason="strace is missing, or may not trace here"),
]

SIZES = [100_003, 300_007, 7, 65_536]
POOL = 'pool = multiprocessing.get_context("{}").Pool(2)'
EXECUTOR = 'pool = executors.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("{}"))'
WORKERS = {
    "Pool, fork": POOL.format("fork"),
    "Pool, spawn": POOL.format("spawn"),
    "Pool, forkserver": POOL.format("forkserver"),
    "ProcessPoolExecutor, spawn": EXECUTOR.format("spawn"),
    "ProcessPoolExecutor, forkserver": EXECUTOR.format("forkserver"),
    "joblib, loky": "pool = Loky()",
}
JOB = """\
import concurrent.futures as executors, multiprocessing, os, sys
import tfdarshan

def use(path):
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        assert len(file.read(10)) == min(size, 10)
        file.seek(size // 2)
        assert len(file.read()) == size - size // 2
    descriptor = os.open(path, os.O_RDONLY)
    assert len(os.pread(descriptor, 1000, 1)) == min(size - 1, 1000)
    os.close(descriptor)
    with open(path + ".copy", "wb", buffering=0) as file:
        file.write(bytes(size))

class Loky:
    def map(self, function, values):
        import joblib
        calls = [joblib.delayed(function)(value) for value in values]
        return joblib.Parallel(2, backend="loky", batch_size=1)(calls)

def main():
    _, folder, logs, begin, end = sys.argv
    paths = [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    WORKERS
    list(pool.map(use, paths))
    with tfdarshan.profile(logs):
        os.access(begin, os.F_OK)
        list(pool.map(use, paths))
        os.access(end, os.F_OK)
    list(pool.map(use, paths))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("workers", WORKERS)
def test_workers_that_are_older_count_as_strace_does(python, environment, tmp_path, workers):
    if "joblib" in workers and importlib.util.find_spec("joblib") is None:
        pytest.skip("joblib is not installed")

    # GIVEN files, and workers that have used each of them before the session
    folder = tmp_path / "files"
    folder.mkdir()
    for number, size in enumerate(SIZES):
        (folder / str(number)).write_bytes(os.urandom(size))
    (tmp_path / "job.py").write_text(JOB.replace("WORKERS", WORKERS[workers]))
    edges = [marker("older", edge) for edge in ("begin", "end")]
    job = [str(python), str(tmp_path / "job.py"), str(folder), str(tmp_path / "logs"), *edges]

    # WHEN they do so in a session, and once more after it
    done = strace_log.run(job, tmp_path / "strace", timeout_s=250, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr

    # THEN
    seen = tally(window(strace_log.read_calls(tmp_path / "strace"), "older"), folder)
    found = differences("older", tfdarshan.open_session(tmp_path / "logs").files, seen, folder)
    assert not found, "\n".join(found)
    assert sum(file.bytes_read for file in seen.values()) >= sum(SIZES) // 2
    assert sum(file.bytes_written for file in seen.values()) == sum(SIZES)
