"""torchrun itself, on this machine: what four ranks and their workers do, against strace."""

import subprocess
import sys

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.data_files import counted, seen_by_strace
from tests.integration.packages.found_packages import need

FILES = 24
RANKS = 4
LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
RECORDED = ["-m", "tfdarshan", "run", "--logdir", "logs", "--no-trace", "train.py"]

# Each rank reads its share by workers that are started anew, and looks into each file itself.
TRAINING = """
import os
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

FILES = sorted(os.path.join("data", name) for name in os.listdir("data"))

def read(path, count):
    file = os.open(path, os.O_RDONLY)
    moved = 0
    while block := os.read(file, count):
        moved += len(block)
    os.close(file)
    return moved

class Data(Dataset):
    def __len__(self):
        return len(FILES)
    def __getitem__(self, place):
        return place, float(read(FILES[place], 1000))

def main():
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    sampler = DistributedSampler(Data(), shuffle=False)
    loader = DataLoader(Data(), batch_size=2, sampler=sampler, num_workers=2, multiprocessing_context="spawn")
    for places, sizes in loader:
        assert [read(FILES[place], 700) for place in places] == sizes.tolist()
        model(sizes.float()[:, None]).sum().backward()
    torch.distributed.destroy_process_group()

if __name__ == "__main__":
    main()
"""

FAILING = """
import os, sys
names = sorted(os.listdir("data"))
for name in names[int(os.environ["RANK"])::int(os.environ["WORLD_SIZE"])]:
    with open(f"data/{name}", "rb", buffering=0) as file:
        file.readall()
if os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    sys.exit(3)
"""

pytestmark = pytest.mark.long


@pytest.fixture
def folder(variables, tmp_path):
    """The folder of a job, with its data."""
    need("torch", variables)
    (tmp_path / "data").mkdir()
    for number in range(FILES):
        (tmp_path / "data" / f"{number:02}.bin").write_bytes(bytes(1_357 * (number + 1)))
    return tmp_path


def run(folder, variables, training, *options, before=()):
    (folder / "train.py").write_text(training)
    command = [*before, *LAUNCHER, *options, *RECORDED]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, env=variables)
    assert done.returncode == 0, done.stderr
    return done


def test_four_ranks_and_their_workers_count_as_strace_does(folder, traced):
    # WHEN
    (folder / "calls").mkdir()
    run(folder, traced, TRAINING, before=strace_log.tracing(folder / "calls"))

    # THEN each file was opened by a rank and by its worker, as strace has it
    session = tfdarshan.open_session(folder / "logs")
    assert (len(session.joint.ranks), session.joint.missing, session.problems) == (RANKS, (), [])
    seen = seen_by_strace(folder / "calls")
    assert counted(session) == seen
    assert [opens for opens, _, _ in seen.values()] == [2] * FILES
    workers = [meta for meta in session.meta if meta["role"]["kind"] == "worker"]
    assert len(workers) == 2 * RANKS


def test_a_restart_is_a_session_of_its_own(folder, variables):
    # WHEN a rank fails when it has read its files, the first time
    done = run(folder, variables, FAILING, "--max-restarts=1")

    # THEN
    first, again = sorted((folder / "logs/plugins/tfdarshan").iterdir())
    assert (first.name.endswith("-1"), again.name) == (True, f"{first.name[:-2]}-r1-1")
    assert f"see it with: tfdarshan summary {again}\n" in done.stderr
    session = tfdarshan.open_session(again)
    assert (len(session.joint.ranks), session.joint.missing, session.joint.round) == (RANKS, (), "1")
    files = session.files[session.files["path"].str.endswith(".bin")].sort_values("path")
    assert files["POSIX_BYTES_READ"].tolist() == [1_357 * (number + 1) for number in range(FILES)]
