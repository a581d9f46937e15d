"""Which rank of which distributed job this process is, by what its launcher put into the environment.

Ranks never talk to each other: what all ranks of a job find here names the session that they share.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tfdarshan.errors import NOT_AS_WRITTEN
from tfdarshan.recording.ranks_on_host import ranks_on_host

JOB_VARIABLE = "TFDARSHAN_JOB"
# Names of a rank, for launchers that give none: a loop over hosts, pbsdsh, GNU parallel, a Kubernetes Job.
RANK_VARIABLE, SIZE_VARIABLE = "TFDARSHAN_RANK", "TFDARSHAN_WORLD_SIZE"
# Steps from here on are no tasks: the batch script, an interactive shell, what belongs to no step.
# Source: SLURM_MAX_NORMAL_STEP_ID and SLURM_INTERACTIVE_STEP in slurm/slurm.h.
FIRST_SPECIAL_STEP = 0xFFFFFFF0
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MOST_OF_NAME = 60
# The order of TensorFlow's tasks; other kinds of task come behind them, by name.
TASKS = ("chief", "master", "worker")

Environment = Mapping[str, str]


@dataclass(frozen=True)
class JobIdentity:
    """One rank of a job.

    Attributes:
        launcher: Who started it, or "named" if the job was named by its user.
        job: What all ranks of the job call it, and no other job that is told apart from it.
        rank: From 0 on.
        world_size: How many ranks the job has; None if the launcher does not say.
        local_rank: The rank on its host, None if unknown.
        round: How often the job was restarted; "2.1" of two launchers that count, the outer one first.
        unique: Whether no later job can have the same identity.
        local_size: How many of its ranks are on this host, None if unknown.
    """

    launcher: str
    job: str
    rank: int
    world_size: int | None = None
    local_rank: int | None = None
    round: str = "0"
    unique: bool = True
    local_size: int | None = None

    def folder(self, number: int) -> str:
        """Return the name of the folder of the `number`-th session of this job, the same for all ranks."""
        again = "" if self.round == "0" else f"-r{self.round}"
        return f"{self.launcher}-{_as_name(self.job)}{again}-{number}"


def job_identity(environment: Environment, job: str | None = None) -> JobIdentity | None:
    """Tell which rank this process is; None for a lone process, also for the only one of its launcher.

    A job that was named comes first, with the rank of whichever launcher there is. Then the innermost
    launcher: torchrun, MPI, Slurm. `mpirun` starts one daemon on each node by srun, whose ranks the processes
    inherit, and torchrun is started by either. TF_CONFIG and Kubernetes come last: all that runs below
    inherits their variables.

    Args:
        environment: The environment's variables.
        job: The job's name, as `profile(..., job=...)` has it.
    """
    job = job or environment.get(JOB_VARIABLE)
    launched = next((found for detect in LAUNCHERS if (found := detect(environment)) is not None), None)
    if job:
        found = _named(environment, job, launched)
    else:
        found = None if launched is None or launched.world_size == 1 else launched
    if found is None:
        return None
    local_size = ranks_on_host(environment) or (launched.local_size if launched else None)
    return dataclasses.replace(found, local_size=local_size)


def _named(environment: Environment, job: str, launched: JobIdentity | None) -> JobIdentity | None:
    """Return the rank that the user set, else the launcher's, else the usual variables'."""
    size = _number(environment, SIZE_VARIABLE)
    rank = _number(environment, RANK_VARIABLE)
    if rank is not None:
        return JobIdentity("named", job, rank, size, _number(environment, "LOCAL_RANK"), unique=False)
    if launched is not None:
        size = launched.world_size if size is None else size
        return JobIdentity(
            "named", job, launched.rank, size, launched.local_rank, launched.round, unique=False
        )
    rank = _number(environment, "RANK", "JOB_COMPLETION_INDEX")
    if rank is None:
        return None
    if size is None:
        size = _number(environment, "WORLD_SIZE")
    return JobIdentity("named", job, rank, size, _number(environment, "LOCAL_RANK"), unique=False)


def _torchrun(environment: Environment) -> JobIdentity | None:
    """Source: "Environment Variables" of torchrun (Elastic Launch) in PyTorch's documentation.

    The id is "none", or what `--rdzv-id` says: the address that the workers meet at tells jobs apart.
    """
    run = environment.get("TORCHELASTIC_RUN_ID")
    rank, size = _number(environment, "RANK"), _number(environment, "WORLD_SIZE")
    if run is None or rank is None or size is None:
        return None
    unique = UUID.fullmatch(run) is not None
    meeting = [environment.get(name, "") for name in ("MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID")]
    if _number(environment, "LOCAL_WORLD_SIZE") == size:
        # On one node, torchrun keeps errors in a folder with a random name.
        meeting.append("/".join(environment.get("TORCHELASTIC_ERROR_FILE", "").split("/")[:-3]))
        unique = unique or bool(meeting[-1])
    job = run if UUID.fullmatch(run) else f"{run}-{_digest(*meeting)}"
    restarts = _rounds(_slurm_restarts(environment), _number(environment, "TORCHELASTIC_RESTART_COUNT"))
    local_rank = _number(environment, "LOCAL_RANK")
    return JobIdentity("torchrun", job, rank, size, local_rank, restarts, unique)


def _open_mpi(environment: Environment) -> JobIdentity | None:
    """Source: "Environment variables set at run time", Open MPI FAQ; PMIX_NAMESPACE of the PMIx standard.

    A namespace such as "prterun-host-4711@1" has the launcher's host and process id; a plain number, which
    older versions give, comes again on other days.
    """
    rank = _number(environment, "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
    size = _number(environment, "OMPI_COMM_WORLD_SIZE")
    if size is None and "PMIX_RANK" in environment:
        size = _number(environment, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
    if rank is None or size is None:
        return None
    namespace = environment.get("PMIX_NAMESPACE", "")
    address = environment.get("OMPI_MCA_orte_hnp_uri", environment.get("PMIX_SERVER_URI2", ""))
    job = f"{namespace or 'job'}-{_digest(namespace, _hnp(address), _scheduler(environment))}"
    local_rank = _number(environment, "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
    restarts = _rounds(_slurm_restarts(environment))
    return JobIdentity("mpi", job, rank, size, local_rank, restarts, unique=bool(_scheduler(environment)))


def _hnp(uri: str) -> str:
    """Return what all ranks of one mpirun have of its address: the job family before the semicolon."""
    return uri.split(";")[0].split(".")[0]


def _mpich(environment: Environment) -> JobIdentity | None:
    """Of MPICH and Intel MPI: rank and size only. The scheduler tells jobs apart, not runs within one.

    Source: the PMI-1 wire protocol's variables, as MPICH's process manager Hydra sets them.
    """
    rank, size = _number(environment, "PMI_RANK"), _number(environment, "PMI_SIZE")
    if rank is None or size is None:
        return None
    scheduler = _scheduler(environment)
    job = scheduler or f"job-{_digest(environment.get('PMI_PORT', ''))}"
    local_rank = _number(environment, "MPI_LOCALRANKID", "MPI_LOCAL_RANK")
    restarts = _rounds(_slurm_restarts(environment))
    return JobIdentity("mpi", job, rank, size, local_rank, restarts, unique=False)


def _slurm(environment: Environment) -> JobIdentity | None:
    """Of a task of a job step; a batch script and an interactive shell have such variables, and are none.

    Source: "OUTPUT ENVIRONMENT VARIABLES" of srun(1).
    """
    job, step = environment.get("SLURM_JOB_ID"), _number(environment, "SLURM_STEP_ID", "SLURM_STEPID")
    rank = _number(environment, "SLURM_PROCID")
    size = _number(environment, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
    if not job or step is None or step >= FIRST_SPECIAL_STEP or rank is None or size is None:
        return None
    cluster = environment.get("SLURM_CLUSTER_NAME", "")
    name = f"{cluster}.{job}.{step}" if cluster else f"{job}.{step}"
    local_rank = _number(environment, "SLURM_LOCALID")
    return JobIdentity("slurm", name, rank, size, local_rank, _rounds(_slurm_restarts(environment)))


def _torch_variables(environment: Environment) -> JobIdentity | None:
    """Of `init_method="env://"`: what Lightning, Accelerate, DeepSpeed or a script set for each rank."""
    rank, size = _number(environment, "RANK"), _number(environment, "WORLD_SIZE")
    address, port = environment.get("MASTER_ADDR"), environment.get("MASTER_PORT")
    if rank is None or size is None or not address or not port:
        return None
    job = f"{address}.{port}-{_digest(_scheduler(environment))}"
    return JobIdentity("torch", job, rank, size, _number(environment, "LOCAL_RANK"), unique=False)


def _tf_config(environment: Environment) -> JobIdentity | None:
    """Of TF_CONFIG: ranks are counted through the cluster's chief, its workers, then its other tasks.

    Source: "TF_CONFIG" in TensorFlow's guide on distributed training. An evaluator is in no cluster.
    """
    try:
        config = json.loads(environment.get("TF_CONFIG") or "{}")
        cluster, task = config["cluster"], config["task"]
        kinds = [kind for kind in TASKS if kind in cluster]
        kinds += sorted(kind for kind in cluster if kind not in TASKS)
        index = int(task["index"])
        if not 0 <= index < len(cluster[task["type"]]):
            return None
        before = kinds[: kinds.index(task["type"])]
        rank = sum(len(cluster[kind]) for kind in before) + index
        addresses = [str(address) for kind in kinds for address in cluster[kind]]
    except NOT_AS_WRITTEN:
        return None
    job = _digest(json.dumps(cluster, sort_keys=True))
    hosts = [address.rpartition(":")[0] for address in addresses]
    local_size = hosts.count(hosts[rank]) if hosts[rank] else None
    return JobIdentity("tensorflow", job, rank, len(addresses), unique=False, local_size=local_size)


def _kubernetes(environment: Environment) -> JobIdentity | None:
    """Of an indexed Job or a JobSet, where the downward API says whose pod it is: docs/reference/clusters.md.

    Source: "Indexed Job" in Kubernetes' documentation; JOB_COMPLETION_INDEX is set for each container.
    """
    job = environment.get("JOBSET_UID") or environment.get("JOB_UID")
    rank = _number(environment, "JOB_GLOBAL_INDEX", "JOB_COMPLETION_INDEX")
    if not job or rank is None:
        return None
    size = _number(environment, SIZE_VARIABLE, "WORLD_SIZE")
    restarts = _rounds(_number(environment, "JOBSET_RESTART_ATTEMPT"))
    return JobIdentity("kubernetes", job, rank, size, None, restarts)


# The innermost launcher first.
LAUNCHERS: tuple[Callable[[Environment], JobIdentity | None], ...] = (
    _torchrun,
    _open_mpi,
    _mpich,
    _slurm,
    _tf_config,
    _kubernetes,
    _torch_variables,
)


def _scheduler(environment: Environment) -> str:
    """Name the batch job, "" if there is none: a process manager counts anew in each.

    Not its step: of one mpirun, the ranks on its own node are in another one than those on other nodes.
    """
    names = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID")
    return next((environment[name] for name in names if environment.get(name)), "")


def _slurm_restarts(environment: Environment) -> int | None:
    return _number(environment, "SLURM_RESTART_COUNT")


def _rounds(*counts: int | None) -> str:
    """Word restart counts, the outer launcher's first; those before the first that is not 0 are left out."""
    known = [count or 0 for count in counts]
    while len(known) > 1 and not known[0]:
        known = known[1:]
    return ".".join(map(str, known))


def _number(environment: Environment, *names: str) -> int | None:
    """Return the first of some variables that is a whole number from 0 on."""
    for name in names:
        text = environment.get(name, "")
        if text.isascii() and text.isdigit() and len(text) < 12:
            return int(text)
    return None


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _as_name(job: str) -> str:
    """Return a job's name as part of a folder's name; one that is shortened or changed gets its digest."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", job).strip(".-")[:MOST_OF_NAME]
    return name if name == job else f"{name}-{_digest(job)}"
