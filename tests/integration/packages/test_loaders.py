"""Loaders with workers of their own, each against strace: opens, reads and bytes of every file.

Each job sets its loader up as its documents do, with every way to start workers that it has.
"""

import sys

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.data_files import counted, free_ports, seen_by_strace
from tests.integration.packages.found_packages import need

FILES = 24

READ = """
def read(path):
    file = os.open(path, os.O_RDONLY)
    moved = 0
    while block := os.read(file, 1000):
        moved += len(block)
    os.close(file)
    return moved
FILES = sorted(os.path.join("data", name) for name in os.listdir("data"))
"""

TORCH = """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return len(FILES)
    def __getitem__(self, place):
        return read(FILES[place])
def epochs(**options):
    loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2, **options)
    for _ in range(2):
        assert sum(int(batch.sum()) for batch in loader) == TOTAL
TOTAL = sum(os.stat(path).st_size for path in FILES)
"""

DDP = """
def train(rank):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", sys.argv[1]
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    for path in FILES[rank::2]:
        model(torch.tensor([[float(read(path))]])).sum().backward()
    torch.distributed.destroy_process_group()
"""

GRAIN = """
class Source:
    def __len__(self):
        return len(FILES)
    def __getitem__(self, place):
        return read(FILES[place])
"""

GRAIN_JOB = """
    from absl import flags
    flags.FLAGS(["job"])
    sampler = grain.IndexSampler(len(FILES), shuffle=False, num_epochs=2, shard_options=grain.NoSharding())
    options = grain.ReadOptions(num_threads=0)
    loader = grain.DataLoader(data_source=Source(), sampler=sampler, worker_count=2, read_options=options)
    assert sum(loader) == 2 * sum(os.stat(path).st_size for path in FILES)
"""

TF_DATA_SERVICE = """
    dispatcher = tf.data.experimental.service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = tf.data.experimental.service.WorkerServer(
        tf.data.experimental.service.WorkerConfig(dispatcher_address=address))
    data = tf.data.Dataset.from_tensor_slices(FILES)
    data = data.map(lambda path: tf.strings.length(tf.io.read_file(path)))
    data = data.apply(tf.data.experimental.service.distribute("parallel_epochs", dispatcher.target))
    assert sum(int(length) for length in data) == sum(os.stat(path).st_size for path in FILES)
"""

# The module that a job needs, what stands before its main part, and that part.
JOBS = {
    "torch DataLoader, fork": ("torch", TORCH, "\n    epochs(multiprocessing_context='fork')"),
    "torch DataLoader, spawn": ("torch", TORCH, "\n    epochs(multiprocessing_context='spawn')"),
    "torch DataLoader, forkserver": ("torch", TORCH, "\n    epochs(multiprocessing_context='forkserver')"),
    "torch DataLoader, persistent workers": (
        "torch",
        TORCH,
        "\n    epochs(multiprocessing_context='spawn', persistent_workers=True)",
    ),
    "torch DistributedDataParallel, spawn": (
        "torch",
        "import torch.multiprocessing\n" + DDP,
        "\n    torch.multiprocessing.spawn(train, nprocs=2)",
    ),
    "grain": ("grain.python as grain", GRAIN, GRAIN_JOB),
    "joblib, loky": (
        "joblib",
        "",
        "\n    joblib.Parallel(n_jobs=2)(joblib.delayed(read)(path) for path in FILES)",
    ),
    "tf.data service": ("tensorflow as tf", "", TF_DATA_SERVICE),
}

pytestmark = pytest.mark.long


@pytest.mark.parametrize("job", JOBS)
def test_counts_are_those_of_strace(job, traced, tmp_path, monkeypatch):
    # GIVEN
    module, before, main = JOBS[job]
    need(module.partition(" ")[0].partition(".")[0], traced)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number in range(FILES):
        (tmp_path / "data" / f"{number:02}.bin").write_bytes(bytes(1_357 * (number + 1)))
    (tmp_path / "train.py").write_text(
        f"import os, sys\nimport {module}\n{READ}{before}\nif __name__ == '__main__':{main}\n"
    )

    # WHEN
    command = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "--no-trace", "train.py"]
    done = strace_log.run(
        [*command, str(free_ports(1)[0])], tmp_path / "calls", timeout_s=600, environment=traced
    )

    # THEN
    assert done.returncode == 0, done.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    seen = seen_by_strace(tmp_path / "calls")
    assert len(seen) == FILES
    assert counted(session) == seen
    assert session.problems == []
