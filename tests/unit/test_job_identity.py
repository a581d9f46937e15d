"""Which rank of which job a process is: the variables are those that each launcher was seen to set."""

import json

import pytest

from tfdarshan.recording.job_identity import job_identity

TORCHRUN = {
    "TORCHELASTIC_RUN_ID": "9dbd4b51-1be5-4ff1-9a0b-6d5f0f2f3c41", "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_MAX_RESTARTS": "3", "GROUP_RANK": "0", "ROLE_RANK": "2", "ROLE_NAME": "default",
    "MASTER_ADDR": "node1", "MASTER_PORT": "43217", "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_ERROR_FILE": "/tmp/torchelastic_x1b/9dbd_q/attempt_0/2/error.json",
    "RANK": "2", "LOCAL_RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4",
}  # fmt: skip
SRUN = {
    "SLURM_CLUSTER_NAME": "big", "SLURM_JOB_ID": "1234", "SLURM_JOBID": "1234", "SLURM_STEP_ID": "0",
    "SLURM_STEPID": "0", "SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NODEID": "1", "SLURM_NTASKS": "8",
    "SLURM_NPROCS": "8", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NUM_NODES": "2",
}  # fmt: skip
SBATCH = {
    "SLURM_JOB_ID": "1234", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "8",
    "SLURM_NODEID": "0", "SLURM_TASK_PID": "4711",
}  # fmt: skip
SALLOC = SBATCH | {"SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1"}
MPIRUN_4 = {
    "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_UNIVERSE_SIZE": "4", "PMIX_NAMESPACE": "2137587713", "PMIX_RANK": "1",
    "OMPI_MCA_orte_hnp_uri": "2137587712.0;tcp://10.0.0.2:52341", "PMIX_SERVER_URI2": "2137587712.0;tcp4://x:1",
}  # fmt: skip
MPICH = {"PMI_RANK": "5", "PMI_SIZE": "8", "PMI_FD": "9", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "4",
         "PBS_JOBID": "77.pbs01"}  # fmt: skip
CLUSTER = {"worker": ["h1:1", "h2:1"], "ps": ["h3:1"], "chief": ["h0:1"]}
KUBERNETES = {"JOB_COMPLETION_INDEX": "2", "JOB_UID": "0f3a", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
TORCH = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def tf_config(kind, index, cluster=CLUSTER):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


@pytest.mark.parametrize(
    ("environment", "launcher", "job", "rank", "size", "local_rank", "round_"),
    [
        (TORCHRUN, "torchrun", "9dbd4b51-1be5-4ff1-9a0b-6d5f0f2f3c41", 2, 4, 2, "0"),
        (SRUN, "slurm", "big.1234.0", 3, 4, 1, "0"),
        (SRUN | {"SLURM_RESTART_COUNT": "2"}, "slurm", "big.1234.0", 3, 4, 1, "2"),
        (MPICH, "mpi", "77.pbs01", 5, 8, 1, "0"),
        (KUBERNETES, "kubernetes", "0f3a", 2, None, None, "0"),
        (KUBERNETES | {"JOBSET_UID": "s1", "JOBSET_RESTART_ATTEMPT": "1", "JOB_GLOBAL_INDEX": "5",
                       "TFDARSHAN_WORLD_SIZE": "8"}, "kubernetes", "s1", 5, 8, None, "1"),
    ],
)  # fmt: skip
def test_a_launcher_says_which_rank_of_which_job(environment, launcher, job, rank, size, local_rank, round_):
    # WHEN
    found = job_identity(environment)

    # THEN
    assert (found.launcher, found.job, found.rank) == (launcher, job, rank)
    assert (found.world_size, found.local_rank, found.round) == (size, local_rank, round_)
    assert found.unique is (environment is not MPICH)


@pytest.mark.parametrize(
    ("task", "rank"), [(("chief", 0), 0), (("worker", 0), 1), (("worker", 1), 2), (("ps", 0), 3)]
)
def test_tasks_of_tf_config_are_counted_chief_first(task, rank):
    found = job_identity(tf_config(*task))
    assert (found.launcher, found.rank, found.world_size, found.unique) == ("tensorflow", rank, 4, False)


@pytest.mark.parametrize(
    "config",
    [
        "", "{", "[]", "7", '{"cluster": {}}',
        json.dumps({"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}}),
        json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 9}}),
        json.dumps({"cluster": CLUSTER, "task": "worker"}),
        json.dumps({"cluster": 5, "task": {"type": "a", "index": 0}}),
    ],
)  # fmt: skip
def test_a_task_of_no_cluster_is_alone(config):
    assert job_identity({"TF_CONFIG": config}) is None


@pytest.mark.parametrize(
    "environment",
    [
        {},
        SBATCH,
        SALLOC,
        SRUN | {"SLURM_STEP_NUM_TASKS": "1"},  # srun --pty bash
        TORCHRUN | {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"},
        {"RANK": "0", "WORLD_SIZE": "4"},
        TORCH | {"WORLD_SIZE": "1", "RANK": "0"},
        {"JOB_COMPLETION_INDEX": "0"},
        {"TFDARSHAN_JOB": "x"},
        SRUN | {"SLURM_PROCID": "three"},
    ],
)
def test_stray_variables_make_no_rank(environment):
    assert job_identity(environment) is None


@pytest.mark.parametrize(
    ("outer", "inner", "launcher"),
    [
        (SRUN, TORCHRUN, "torchrun"),  # srun starts one torchrun on each node
        (SRUN, MPIRUN_4, "mpi"),  # mpirun starts its daemons by srun
        (MPIRUN_4, TORCHRUN, "torchrun"),
        (SRUN, tf_config("worker", 1), "slurm"),
        (SRUN, TORCH, "slurm"),  # scripts copy SLURM_PROCID to RANK
        (KUBERNETES, TORCHRUN, "torchrun"),
        (SALLOC, MPIRUN_4, "mpi"),
    ],
)
def test_the_innermost_launcher_counts(outer, inner, launcher):
    found = job_identity(outer | inner)
    assert (found.launcher, found.rank) == (
        launcher,
        job_identity(inner if launcher != "slurm" else outer).rank,
    )


def test_all_ranks_of_one_launch_agree_and_other_launches_differ():
    # GIVEN
    static = TORCHRUN | {"TORCHELASTIC_RUN_ID": "none"}
    mpi, torch = [], []
    for rank in range(4):
        address = f"2137587712.{rank // 2};tcp4://x:{rank}"
        numbers = {"OMPI_COMM_WORLD_RANK": str(rank), "PMIX_RANK": str(rank)}
        mpi.append(MPIRUN_4 | numbers | {"PMIX_SERVER_URI2": address})
        errors = f"/tmp/torchelastic_x1b/none_q/attempt_0/{rank}/error.json"
        torch.append(static | {"RANK": str(rank), "TORCHELASTIC_ERROR_FILE": errors})

    # WHEN
    names = [{job_identity(one).folder(1) for one in ranks} for ranks in (mpi, torch)]

    # THEN
    assert [len(found) for found in names] == [1, 1]
    later = job_identity(
        static | {"TORCHELASTIC_ERROR_FILE": "/tmp/torchelastic_zzz/none_a/attempt_0/0/error.json"}
    )
    assert later.folder(1) not in names[1]
    assert later.unique


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (TORCHRUN, 4),
        (MPICH, 4),
        (MPIRUN_4 | {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2),
        (SRUN | {"SLURM_STEP_TASKS_PER_NODE": "1,3"}, 3),
        (SRUN | {"SLURM_TASKS_PER_NODE": "8(x2),1", "SLURM_STEP_TASKS_PER_NODE": "2(x2)"}, 2),
        (SRUN | {"SLURM_TASKS_PER_NODE": "2(x1)"}, None),  # this node is the second
        (SRUN | {"SLURM_STEP_TASKS_PER_NODE": "many"}, None),
        (SRUN, None),
        (SRUN | TORCHRUN | {"LOCAL_WORLD_SIZE": "4", "SLURM_STEP_TASKS_PER_NODE": "1(x2)"}, 4),
        (SRUN | {"LOCAL_WORLD_SIZE": "0"}, None),
        (KUBERNETES, None),
        (tf_config("worker", 1), 1),
        (tf_config("worker", 1, {"worker": ["localhost:1", "localhost:2"], "ps": ["localhost:3", "h:3"]}), 3),
        (tf_config("worker", 0, {"worker": ["[::1]:1", "[::1]:2", "[::2]:1"]}), 2),
        (
            tf_config("worker", 0, {"worker": {"0": "h1:1", "1": "h1:2"}}),
            None,
        ),  # by place
        (SRUN | {"SLURM_STEP_TASKS_PER_NODE": "1,3"} | tf_config("worker", 1), 3),
    ],
)
def test_the_ranks_of_a_host_are_counted(environment, expected):
    assert job_identity(environment).local_size == expected
    assert job_identity(environment, "by name").local_size == expected


def test_a_fixed_name_on_several_nodes_is_not_unique():
    found = job_identity(TORCHRUN | {"TORCHELASTIC_RUN_ID": "none", "LOCAL_WORLD_SIZE": "2"})
    assert not found.unique


def test_rounds_and_numbers_are_sessions_of_their_own():
    # GIVEN
    requeued = SRUN | TORCHRUN | {"SLURM_RESTART_COUNT": "1", "TORCHELASTIC_RESTART_COUNT": "2"}

    # WHEN
    names = {
        job_identity(environment).folder(number)
        for environment in (TORCHRUN, TORCHRUN | {"TORCHELASTIC_RESTART_COUNT": "1"}, requeued)
        for number in (1, 2)
    }

    # THEN
    assert len(names) == 6
    assert job_identity(requeued).round == "1.2"


@pytest.mark.parametrize(
    ("environment", "rank", "size"),
    [
        (SRUN, 3, 4),
        (SBATCH | {"TFDARSHAN_RANK": "2", "TFDARSHAN_WORLD_SIZE": "3"}, 2, 3),
        ({"RANK": "1", "WORLD_SIZE": "2"}, 1, 2),
        ({"JOB_COMPLETION_INDEX": "4"}, 4, None),
        (SRUN | {"TFDARSHAN_RANK": "0"}, 0, None),
    ],
)
def test_a_named_job_takes_the_rank_that_there_is(environment, rank, size):
    for found in (
        job_identity(environment, "night run/7"),
        job_identity(environment | {"TFDARSHAN_JOB": "night run/7"}),
    ):
        assert (found.launcher, found.rank, found.world_size) == ("named", rank, size)
        assert found.folder(1).startswith("named-night-run-7-")


def test_a_name_is_one_folder_and_never_another_jobs():
    names = [
        job_identity({"RANK": "0"}, job).folder(1)
        for job in ("a/b", "a-b", "../a", "x" * 300, "x" * 301, "..")
    ]
    assert len(set(names)) == len(names)
    assert all("/" not in name and len(name) < 100 for name in names)
