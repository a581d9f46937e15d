"""Roles of processes, told by how they were started; command lines are those that the programs make."""

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.errors import SessionDataError
from tfdarshan.native.process_identity import process_identity
from tfdarshan.sessions.process_role import (
    KnownProcess,
    Role,
    WorkerNumbers,
    process_names,
    roles_of,
    session_roles,
)

PYTHON = "/usr/bin/python3.12"
SPAWN = "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)"
FORKSERVER = "from multiprocessing.forkserver import main; main(21, 23, ['__main__'], **{})"
LOKY = "joblib.externals.loky.backend"
PROGRAMS = {
    (PYTHON, "-c", SPAWN, "--multiprocessing-fork"): Role("worker"),
    (PYTHON, "-B", "-W", "error", "-c", SPAWN, "--multiprocessing-fork"): Role("worker"),
    (PYTHON, "-c", "from multiprocess.spawn import spawn_main; spawn_main()"): Role("worker"),
    (PYTHON, "-m", f"{LOKY}.popen_loky_posix", "--pipe", "13"): Role("worker"),
    (PYTHON, "-c", FORKSERVER): Role("helper", name="forkserver"),
    (PYTHON, "-c", "from multiprocessing.resource_tracker import main;main(5)"): Role(
        "helper", name="resource_tracker"
    ),
    (PYTHON, "-c", f"from {LOKY}.resource_tracker import main; main(9, False)"): Role(
        "helper", name="resource_tracker"
    ),
    ("/bin/sh", "-c", "exec python train.py"): Role("helper", name="sh"),
    (PYTHON, "train.py", "-c", SPAWN): Role("program", name="train.py"),
    (PYTHON, "/a folder/train.py"): Role("program", name="train.py"),
    (PYTHON, "-u", "-Xdev", "-W", "error", "train.py"): Role("program", name="train.py"),
    (PYTHON, "--check-hash-based-pycs", "never", "train.py"): Role("program", name="train.py"),
    (PYTHON, "-um", "package.module", "x"): Role("program", name="package.module"),
    (PYTHON, "-mpackage"): Role("program", name="package"),
    (PYTHON, "-c", "print(1)"): Role("program", name="python -c"),
    (PYTHON, "-"): Role("program", name="python -"),
    (PYTHON,): Role("program", name="python3.12"),
    ("ray::reader",): Role("program", name="ray::reader"),
    (PYTHON, "-m"): Role("program", name="python -c"),
    (): Role("program", name="python -c"),
}


def process(
    pid=2, *, owner=False, joined=False, start_ns=0, arguments=("python", "job.py"), ticks=0, name=""
):
    return KnownProcess(pid, 1, owner, joined, start_ns, arguments, ticks, name)


@pytest.mark.parametrize("arguments", PROGRAMS, ids=" ".join)
def test_a_program_is_what_its_command_line_says(arguments):
    assert roles_of([process(joined=True, arguments=arguments)]) == [PROGRAMS[arguments]]


def test_the_owner_is_the_main_process_and_its_forks_are_workers():
    found = roles_of([process(1, owner=True), process(2, name="ForkPoolWorker-1"), process(3)])
    assert found == [Role("main"), Role("worker", name="ForkPoolWorker-1"), Role("worker")]


@pytest.mark.parametrize("joined", [False, True])
def test_a_manager_is_a_helper(joined):
    arguments = (PYTHON, "-c", SPAWN) if joined else ("python", "job.py")
    found = roles_of([process(joined=joined, arguments=arguments, name="SyncManager-3")])
    assert found == [Role("helper", name="manager")]


def test_a_fork_that_becomes_a_program_is_its_start():
    # GIVEN a fork that runs a program in its place, and a later process that was given a fork's number
    forks = [process(2, ticks=7, start_ns=5), process(3, ticks=7, start_ns=5)]
    programs = [
        process(2, joined=True, ticks=7, start_ns=9, arguments=(PYTHON, "read.py")),
        process(3, joined=True, ticks=8, start_ns=9, arguments=(PYTHON, "read.py")),
    ]
    # THEN only the first is one process
    roles = [role.label for role in roles_of([*forks, *programs])]
    assert roles == ["start of read.py", "worker", "read.py", "read.py"]


def test_workers_are_numbered_and_others_are_not():
    numbers = WorkerNumbers()
    roles = [numbers.numbered(role) for role in (Role("worker"), Role("main"), Role("worker"))]
    assert [role.label for role in roles] == ["worker 1", "main", "worker 2"]


def test_a_session_shows_the_roles_that_it_has(tmp_path):
    role = {"kind": "worker", "number": 7, "name": "SpawnPoolWorker-7"}
    session = made_up(tmp_path, {"role": {"kind": "main"}}, {"role": role})
    assert [role.label for role in session_roles(session.meta)] == ["main", "worker 7"]


def test_an_older_session_shows_what_it_can(tmp_path):
    # GIVEN sessions that do not say roles
    program = {"joined": True, "command": "/usr/bin/python -u read.py /data"}
    session = made_up(tmp_path, {}, {}, program, {})
    labels = [role.label for role in session_roles(session.meta)]
    assert labels == ["main", "worker 1", "read.py", "worker 2"]


@pytest.mark.parametrize(
    "role",
    [{"kind": "boss"}, {"number": 1}, "main", {"kind": "worker", "number": -1}, {"kind": "main", "name": 3}],
)
def test_a_damaged_role_is_said(tmp_path, role):
    with pytest.raises(SessionDataError, match="role"):
        made_up(tmp_path, {"role": role})


def test_processes_of_one_number_have_names_of_their_own():
    metas = [
        {"host": "a", "pid": 1},
        {"host": "a", "pid": 2},
        {"host": "b", "pid": 2},
        {"host": "a", "pid": 2},
    ]
    assert process_names(metas) == ["a:1", "a:2", "b:2", "a:2.2"]


def made_up(tmp_path, *metas):
    calls = [(0, 10, 1, "pread", 0, 5, 0)]
    jobs = [job_of(calls, ["/data/a"], [5], pid=100 + place, meta=meta) for place, meta in enumerate(metas)]
    return write_session(tmp_path, *jobs)


def test_what_is_no_spool_has_no_process(tmp_path):
    (tmp_path / "1.spool").write_bytes(b"TFDSPOOL" + bytes(100))
    for spool in (tmp_path / "1.spool", tmp_path / "2.spool"):
        with pytest.raises(SessionDataError, match="cannot be read"):
            process_identity(spool)
