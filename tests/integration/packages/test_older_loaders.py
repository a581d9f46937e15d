"""Workers of loaders that are older than a session: what they read in it, file by file, as strace sees it."""

import subprocess

import pytest

import tfdarshan
from tests.integration.installed_python import make_environment
from tests.integration.oracle import strace_log
from tests.integration.oracle.data_files import free_ports
from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import marker, tally, window
from tests.integration.packages.found_packages import need

FILES = 24

JOB = """
import tfdarshan
import os, subprocess, sys
_, BEGIN, END, PORT = sys.argv
FILES = sorted(os.path.join("data", name) for name in os.listdir("data"))
TOTAL = sum(os.stat(path).st_size for path in FILES)
BEFORE
def main():
    START
    epoch()
    with tfdarshan.profile("logs"):
        os.access(BEGIN, os.F_OK)
        epoch()
        os.access(END, os.F_OK)
    epoch()
    FINISH

if __name__ == "__main__":
    main()
"""

TORCH = """
import torch.utils.data
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return len(FILES)
    def __getitem__(self, place):
        with open(FILES[place], "rb", buffering=0) as file:
            return sum(len(block) for block in iter(lambda: file.read(1000), b""))
"""
LOADER = """
    loader = torch.utils.data.DataLoader(
        Data(), batch_size=4, num_workers=2, multiprocessing_context={!r}, persistent_workers=True)
    def epoch():
        assert sum(int(batch.sum()) for batch in loader) == TOTAL
"""

SERVER = """
import sys
import tensorflow as tf
service = tf.data.experimental.service
port, address = int(sys.argv[1]), "localhost:" + sys.argv[1]
if sys.argv[2] == "dispatcher":
    server = service.DispatchServer(service.DispatcherConfig(port=port))
else:
    server = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
server.join()
"""
SERVICE = """
    server = [sys.executable, "server.py", PORT]
    servers = [subprocess.Popen([*server, kind]) for kind in ("dispatcher", "worker")]
    address = "grpc://localhost:" + PORT
    def epoch():
        data = tf.data.Dataset.from_tensor_slices(FILES)
        data = data.map(lambda path: tf.strings.length(tf.io.read_file(path)))
        data = data.apply(tf.data.experimental.service.distribute("parallel_epochs", address))
        assert sum(int(length) for length in data) == TOTAL
"""
STOP_SERVERS = """
    for server in servers:
        server.terminate()
        server.wait()
"""

# The module that a job needs, what stands before its main part, what starts its workers, and what ends them.
JOBS = {
    **{f"torch, {way}": ("torch", TORCH, LOADER.format(way), "") for way in ("fork", "spawn", "forkserver")},
    "tf.data service": ("tensorflow", "import tensorflow as tf", SERVICE, STOP_SERVERS),
}

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("environment"))


@pytest.mark.parametrize("job", JOBS)
def test_counts_are_those_of_strace(job, python, traced, tmp_path):
    # GIVEN workers that have read each file before the session
    module, before, start, finish = JOBS[job]
    need(module, traced)
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:02}.bin").write_bytes(bytes(1_357 * (number + 1)))
    text = JOB.replace("BEFORE", before).replace("    START", start).replace("    FINISH", finish)
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "server.py").write_text(SERVER)
    edges = [marker("older", edge) for edge in ("begin", "end")]

    # WHEN they do so in it, and once more after it
    whole = [*strace_log.tracing(tmp_path), str(python), "train.py", *edges, str(free_ports(1)[0])]
    ran = subprocess.run(whole, cwd=tmp_path, env=traced, capture_output=True, text=True, timeout=500)
    assert ran.returncode == 0, ran.stdout + ran.stderr

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    seen = tally(window(strace_log.read_calls(tmp_path), "older"), folder)
    found = differences("older", session.files, seen, folder)
    assert not found, "\n".join(found)
    assert [file.opens for path, file in sorted(seen.items()) if path.endswith(".bin")] == [1] * FILES
    owner = next(process.pid for process in session.processes if process.meta["owner"])
    mine = session.files[session.files["path"].str.endswith(".bin")]
    assert not mine["pid"].eq(owner).any()
