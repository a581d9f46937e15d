"""Launchers themselves, on this machine: every rank, and the worker that it starts, against strace."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.data_files import counted, free_ports, seen_by_strace
from tests.integration.slurm_cluster import NODES, NoSlurmError, slurm_cluster

FILES = 24
RANKS = 4

# A rank reads its share itself and by a worker that is started anew, as a loader does.
TRAINING = """
import multiprocessing, os, sys
def read(name):
    file = os.open(name, os.O_RDONLY)
    while os.read(file, 1000):
        pass
    os.close(file)
if __name__ == "__main__":
    rank = int(os.environ[sys.argv[1]])
    mine = sorted(os.listdir("data"))[rank::4]
    for name in mine[::2]:
        read("data/" + name)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.map(read, ["data/" + name for name in mine[1::2]])
"""

WAITING = """
    print("ready", flush=True)
    import signal
    signal.pause()
"""

# Two batches for each worker, so that both go as many steps.
STRATEGY = """
import json, os
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
mine = sorted(os.path.join("data", name) for name in os.listdir("data"))[rank::2]
size = lambda path: tf.cast(tf.strings.length(tf.io.read_file(path)), tf.float32)
data = tf.data.Dataset.from_tensor_slices(mine).map(size).batch(6)
@tf.function
def step(sizes):
    return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(sizes,)), axis=None)
for sizes in strategy.distribute_datasets_from_function(lambda _context: data):
    step(sizes)
"""

pytestmark = pytest.mark.long


@pytest.fixture
def training(tmp_path, monkeypatch):
    """Return the command of a rank, under strace."""
    if not strace_log.is_available():
        pytest.skip("strace is missing, or may not trace here")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "calls").mkdir()
    for number in range(FILES):
        (tmp_path / "data" / f"{number:02}.bin").write_bytes(bytes(1_357 * (number + 1)))
    (tmp_path / "train.py").write_text(TRAINING)

    def command(rank_variable):
        job = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "train.py", rank_variable]
        return [*strace_log.tracing(tmp_path / "calls"), *job]

    return command


def check(tmp_path, done):
    """Check the session of four ranks, and return it."""
    assert done.returncode == 0, done.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (len(session.joint.ranks), session.joint.missing, session.problems) == (RANKS, (), [])
    seen = seen_by_strace(tmp_path / "calls")
    assert len(seen) == FILES
    assert counted(session) == seen
    workers = [meta for meta in session.meta if not meta["owner"]]
    assert len(workers) >= RANKS
    return session


def open_mpi():
    """Return the command, None if it is not there."""
    command = shutil.which("mpirun")
    if command is None:
        return None
    about = subprocess.run([command, "--version"], capture_output=True, text=True)
    return command if "Open MPI" in about.stdout else None


def test_mpirun(training, tmp_path):
    # GIVEN
    mpirun = open_mpi()
    if mpirun is None:
        pytest.skip("Open MPI's mpirun is not installed")
    launcher = [mpirun, "--oversubscribe", "-np", str(RANKS)]
    launcher += ["--allow-run-as-root"] if os.geteuid() == 0 else []

    # WHEN
    whole = [*launcher, *training("OMPI_COMM_WORLD_RANK")]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=600)

    # THEN
    check(tmp_path, done)


class Slurm:
    def __init__(self, variables):
        self._variables = variables

    def start(self, *command, tasks=RANKS):
        launcher = ["srun", "--nodes=2", f"--ntasks={tasks}", f"--ntasks-per-node={tasks // 2}"]
        return begun([*launcher, *command], self._variables)

    def kill_all(self):
        subprocess.run(["scancel", "--signal=KILL", "--user=root"], env=self._variables, check=True)


@pytest.fixture(scope="module")
def slurm():
    with ExitStack() as cleanup:
        try:
            variables = cleanup.enter_context(slurm_cluster())
        except NoSlurmError as reason:
            pytest.skip(str(reason))

        yield Slurm(variables)


def begun(command, variables):
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    stdout, stderr = process.communicate(timeout=600)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def test_srun_on_two_nodes(training, slurm, tmp_path):
    # WHEN
    done = ended(slurm.start(*training("SLURM_PROCID")))

    # THEN two ranks were on each
    session = check(tmp_path, done)
    assert tuple(session.joint.hosts) == NODES
    hosts = Counter(process.meta["host"] for process in session.processes if process.meta["owner"])
    assert hosts == {"n0": 2, "n1": 2}


def test_a_killed_step_is_recovered_by_another_on_its_nodes(training, slurm, tmp_path):
    # GIVEN all ranks are killed when they have read
    training("SLURM_PROCID")
    (tmp_path / "wait.py").write_text(TRAINING + WAITING)
    job = slurm.start(sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "wait.py", "SLURM_PROCID")
    ready = [job.stdout.readline() for _ in range(RANKS)]
    assert ready == ["ready\n"] * RANKS
    slurm.kill_all()
    assert ended(job).returncode != 0

    # WHEN
    done = ended(slurm.start(sys.executable, "-m", "tfdarshan", "recover", "logs", tasks=2))

    # THEN
    assert done.returncode == 0, done.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (len(session.joint.ranks), session.joint.missing) == (RANKS, ())
    sizes = {str(tmp_path / "data" / f"{number:02}.bin"): 1_357 * (number + 1) for number in range(FILES)}
    assert {path: moved for path, (_, _, moved) in counted(session).items()} == sizes


def test_workers_of_a_distribution_strategy(training, tmp_path):
    # GIVEN two workers of one cluster, each with its shard of the files
    training("")
    (tmp_path / "train.py").write_text(STRATEGY)
    ports = free_ports(2)
    cluster = {"worker": [f"localhost:{port}" for port in ports]}

    # WHEN
    started = []
    for rank in range(2):
        task = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})
        command = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "--no-trace", "train.py"]
        variables = os.environ | {"TF_CONFIG": task, "CUDA_VISIBLE_DEVICES": ""}
        started.append(begun([*strace_log.tracing(tmp_path / "calls"), *command], variables))
    done = [ended(process) for process in started]

    # THEN
    assert [process.returncode for process in done] == [0, 0], done
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (len(session.joint.ranks), session.joint.missing) == (2, ())
    seen = seen_by_strace(tmp_path / "calls")
    assert len(seen) == FILES
    assert counted(session) == seen
