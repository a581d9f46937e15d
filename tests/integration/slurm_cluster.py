"""A Slurm of this machine alone: one controller and two nodes that have host names of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

NODES = ("n0", "n1")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo", "unshare")
# Slurm would have these jobs wait for memory that the nodes do not have; its nodes are one machine.
DASK_SETTINGS = {"DASK_JOBQUEUE__SLURM__JOB_MEM": "50MB", "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
SECONDS_TO_BEGIN, SECONDS_TO_END = 60.0, 30.0
# Two daemons of one machine need ports of their own, and the nodes have more processors than it.
CONFIGURATION = """
ClusterName=made-up
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort=16817
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
PartitionName=all Nodes=n0,n1 Default=YES MaxTime=INFINITE State=UP
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 CPUs=4 RealMemory=100
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17002 CPUs=4 RealMemory=100
"""


class NoSlurmError(Exception):
    """This machine cannot run one."""


@contextmanager
def slurm_cluster() -> Iterator[Mapping[str, str]]:
    """Run it; return the variables that its commands need.

    Raises:
        NoSlurmError: A program is missing, this is not root, or the nodes do not come up.
    """
    missing = [name for name in PROGRAMS if not _program(name)]
    if missing:
        raise NoSlurmError(f"{', '.join(missing)}: not installed (slurm-wlm, munge)")
    if os.geteuid() != 0:
        raise NoSlurmError("only root can run daemons of Slurm")
    # Sockets have short names.
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as name, ExitStack() as running:
        folder = Path(name)
        _configure(folder)
        variables = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        for command in _daemons(folder):
            daemon = subprocess.Popen(
                command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            running.callback(daemon.wait)
            running.callback(daemon.kill)
            time.sleep(0.5)
        _wait_for_nodes(variables)
        try:
            yield variables
        finally:
            # What its daemons leave would run on without them.
            subprocess.run(["scancel", "--signal=KILL", "--user=root"], env=variables, check=False)
            _wait_for_no_jobs(variables)


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


def _configure(folder: Path) -> None:
    munge = folder / "munge"
    munge.mkdir(mode=0o755)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    (folder / "state").mkdir()
    text = CONFIGURATION.format(host=os.uname().nodename.partition(".")[0], folder=folder)
    (folder / "slurm.conf").write_text(text, encoding="utf-8")


def _daemons(folder: Path) -> Iterator[list[str]]:
    munge = folder / "munge"
    yield [
        str(_program("munged")), "--foreground", "--force", f"--socket={munge}/socket",
        f"--key-file={folder}/munge.key", f"--log-file={munge}/log", f"--pid-file={munge}/pid",
        f"--seed-file={munge}/seed",
    ]  # fmt: skip
    yield [str(_program("slurmctld")), "-D"]
    for node in NODES:
        slurmd = f"hostname {node} && exec {_program('slurmd')} -D -N {node}"
        yield [str(_program("unshare")), "--uts", "sh", "-c", slurmd]


def _wait_for_no_jobs(variables: Mapping[str, str]) -> None:
    deadline = time.monotonic() + SECONDS_TO_END
    while time.monotonic() < deadline:
        asked = subprocess.run(["squeue", "--noheader"], env=variables, capture_output=True, text=True)
        if not asked.stdout.strip():
            return
        time.sleep(0.5)


def _wait_for_nodes(variables: Mapping[str, str]) -> None:
    deadline = time.monotonic() + SECONDS_TO_BEGIN
    said = ""
    while time.monotonic() < deadline:
        asked = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--format=%N %T"],
            env=variables,
            capture_output=True,
            text=True,
        )
        said = asked.stdout + asked.stderr
        if said.split() == [word for node in NODES for word in (node, "idle")]:
            return
        time.sleep(0.5)
    raise NoSlurmError(f"its nodes are not idle after {SECONDS_TO_BEGIN:.0f} s: {said.strip()}")
