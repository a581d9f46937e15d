"""The recipes of docs/reference/clusters.md, run as printed but for the place of the logdir."""

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.packages.found_packages import need, with_packages
from tests.integration.slurm_cluster import NoSlurmError, slurm_cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "clusters.md"
FILES = 24
TRAINING = """
import os, signal, sys
names = "OMPI_COMM_WORLD SLURM TFDARSHAN".split()
ranks = [f"{name}_{what}" for name in names for what in ("RANK", "PROCID")]
rank = int(next(os.environ[name] for name in ["RANK", *ranks] if name in os.environ))
sizes = ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "TFDARSHAN_WORLD_SIZE"]
world = int(next(os.environ[name] for name in sizes if name in os.environ))
for name in sorted(os.listdir(os.environ["JOB_DATA"]))[rank::world]:
    with open(os.path.join(os.environ["JOB_DATA"], name), "rb", buffering=0) as file:
        file.readall()
if os.environ.get("JOB_KILLS") == str(rank):
    os.kill(os.getpid(), signal.SIGKILL)
"""
# What Open MPI asks of root, and of a machine with fewer processors than ranks.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
# Stands in for PBS's, which no package has: the command once for each of four virtual nodes.
PBSDSH = """#!/bin/bash
shift
for vnode in 0 1 2 3; do PBS_VNODENUM=$vnode "$@" & done
wait
"""


def printed(beginning):
    """Return the code block that has a line with this beginning."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = {one for one in blocks if any(line.startswith(beginning) for line in one.splitlines())}
    return block


class Job:
    """A folder with a script and files, and a shell that knows python and tfdarshan by these names."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "data").mkdir()
        for number in range(FILES):
            (folder / "data" / f"{number:02}").write_bytes(bytes(1_000 * (number + 1)))
        (folder / "train.py").write_text(TRAINING)
        (folder / "bin").mkdir()
        self.script("bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        self.script("bin/tfdarshan", f'#!/bin/sh\nexec {sys.executable} -m tfdarshan "$@"\n')
        self.own_variables = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "JOB_DATA": str(folder / "data"),
            **OPEN_MPI,
        }
        self.variables = os.environ | self.own_variables

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text.replace("/shared/logs", str(self.folder / "logs")))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def run(self, block, **more):
        """Run a block as it is printed."""
        text = block.replace("/shared/logs", str(self.folder / "logs"))
        return subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            env={**self.variables, **more},
            capture_output=True,
            text=True,
            timeout=600,
        )

    def check(self, ranks, logs="logs"):
        """All ranks are in one session, and have read each file once."""
        session = tfdarshan.open_session(self.folder / logs)
        assert ([rank.rank for rank in session.joint.ranks], session.joint.missing) == (
            list(range(ranks)),
            (),
        )
        files = session.files[session.files["path"].str.startswith(str(self.folder / "data"))]
        assert files.groupby("path")["POSIX_OPENS"].sum().tolist() == [1] * FILES
        assert int(files["POSIX_BYTES_READ"].sum()) == 1_000 * FILES * (FILES + 1) // 2
        return session


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


@pytest.fixture(scope="module")
def slurm():
    with ExitStack() as cleanup:
        try:
            yield cleanup.enter_context(slurm_cluster())
        except NoSlurmError as reason:
            pytest.skip(str(reason))


def lines(block, beginning):
    return "".join(f"{line}\n" for line in block.splitlines() if line.startswith(beginning))


def test_a_loop(job):
    done = job.run(printed("for rank in"))
    assert done.returncode == 0, done.stderr
    job.check(4)


def test_mpirun(job):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    done = job.run(lines(printed("mpirun"), "mpirun"))
    assert done.returncode == 0, done.stderr
    job.check(4)


def test_pbsdsh(job):
    job.script("bin/pbsdsh", PBSDSH)
    done = job.run(printed("pbsdsh"), PBS_JOBID="77.server")
    assert done.returncode == 0, done.stderr
    job.check(4)


@pytest.fixture
def torch_job(job):
    """The same with torchrun, which PyTorch brings."""
    job.variables = with_packages(job.folder) | job.own_variables
    need("torch", job.variables)
    job.script("bin/torchrun", f'#!/bin/sh\nexec {sys.executable} -m torch.distributed.run "$@"\n')
    return job


def test_torchrun_on_two_nodes(torch_job):
    # WHEN the line is run twice, as on two nodes, which meet at n0
    block = printed("torchrun --nnodes 2").replace("n0:29400", "localhost:29400")
    done = torch_job.run(
        f"({block}) & other=$!\n({block})\nstatus=$?\nwait $other && exit $status", SLURM_JOB_ID="77"
    )
    assert done.returncode == 0, done.stderr
    torch_job.check(8)


def test_torchrun_on_one_node(torch_job):
    done = torch_job.run(printed("torchrun --standalone"))
    assert done.returncode == 0, done.stderr
    torch_job.check(4)


def test_srun(job, slurm):
    done = job.run(lines(printed("mpirun"), "srun"), **slurm_only(slurm))
    assert done.returncode == 0, done.stderr
    job.check(8)


def test_recover_in_a_task_epilog(job, slurm):
    # WHEN a rank of four is killed
    job.script("recover.sh", printed("tfdarshan recover"))
    done = job.run(printed("srun --ntasks 4 --task-epilog"), JOB_KILLS="2", **slurm_only(slurm))

    # THEN the session has what it read
    assert done.returncode != 0
    job.check(4)


def test_a_spool_folder_by_a_task_prolog(job, slurm):
    # GIVEN a folder for spools, and a job that counts what is in it
    job.script("spool.sh", printed("echo"))
    (job.folder / "spools").mkdir()
    folder = str(job.folder / "spools")
    seen = 'import glob, os; print(len(glob.glob(os.environ["TMPDIR"] + "/tfdarshan-*")))'
    (job.folder / "train.py").write_text(f"{TRAINING}\n{seen}\n")

    # WHEN
    done = job.run(printed("srun --ntasks 4 --task-prolog"), TMPDIR=folder, **slurm_only(slurm))

    # THEN
    assert done.returncode == 0, done.stderr
    assert sorted(map(int, done.stdout.split()))[-1] >= 1
    job.check(4)


def test_a_job_array(job, slurm):
    # WHEN
    script = job.script("array.sh", printed("#SBATCH --array"))
    done = job.run(f"sbatch --parsable --wait {script}", **slurm_only(slurm))

    # THEN each task of the array has a session of its own
    assert done.returncode == 0, done.stderr
    logs = job.folder / "logs" / done.stdout.strip()
    until_s = time.monotonic() + 60
    while (
        len(sessions := list((logs / "plugins" / "tfdarshan").iterdir())) < 4 and time.monotonic() < until_s
    ):
        time.sleep(0.5)
    assert len(sessions) == 4
    for session in sessions:
        job.check(2, session)


def slurm_only(variables):
    return {"SLURM_CONF": variables["SLURM_CONF"]}
