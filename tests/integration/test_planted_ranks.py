"""Jobs of real processes in which a rank, a mount or the sharding is wrong: found each time, nothing else."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.unit.findings.made_up_ranks import rank_findings

ROOT = Path(__file__).parents[2]
WORLD, STEPS, FILES = 4, 20, 160
FAST, SLOW = "lustre", "bucket"
AS_HOST = 'hostname "$1" && shift && exec "$@"'


def make_files(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        (folder / f"{number:03}").write_bytes(bytes(20_000))


@pytest.fixture
def data(tmp_path):
    make_files(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def scratch():
    """The same files on another mount."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no second file system to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        make_files(Path(folder))
        yield Path(folder)


def run_ranks(folder, plans, hosts=None):
    """Run each rank's sessions in lockstep; return the sessions, the oldest first."""
    with ExitStack() as stack:
        ranks = []
        for rank, plan in enumerate(plans):
            path = folder / f"plan-{rank}.json"
            path.write_text(json.dumps(plan))
            ranks.append(stack.enter_context(_start(folder, path, rank, hosts)))
        for _ in range(sum(len(session["steps"]) + 2 for session in plans[0])):
            assert [rank.stdout.readline() for rank in ranks] == [".\n"] * WORLD
            for rank in ranks:
                rank.stdin.write("\n")
                rank.stdin.flush()
    assert [rank.returncode for rank in ranks] == [0] * WORLD
    sessions = sorted((folder / "logs" / "plugins" / "tfdarshan").iterdir(), key=_number)
    assert len(sessions) == len(plans[0])
    return [tfdarshan.open_session(session) for session in sessions]


def _number(session):
    return int(session.name.rpartition("-")[2])


def _start(folder, plan, rank, hosts):
    words = [sys.executable, "-m", "tests.planted_rank", folder / "logs", plan]
    if hosts is not None:
        words = ["unshare", "--uts", "bash", "-c", AS_HOST, "host", hosts[rank], *words]
    own = {"TFDARSHAN_JOB": "planted", "TFDARSHAN_RANK": str(rank), "TFDARSHAN_WORLD_SIZE": str(WORLD)}
    return subprocess.Popen(
        words, cwd=ROOT, env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def shards(folder, rng):
    """Deal all files out: for each rank two a step."""
    order = rng.permutation(FILES).reshape(WORLD, STEPS, 2)
    return [[[str(folder / f"{n:03}") for n in step] for step in part] for part in order]


def session_of(steps, as_if, *folders):
    return {"as_if": as_if, "as_if_paths": [f"{folder}/" for folder in folders], "steps": steps}


def counts(short):
    """The number of sessions: of the long run enough for each cause to be found ten times of ten."""
    return (
        [1, pytest.param(10, marks=pytest.mark.long)] if short else [pytest.param(10, marks=pytest.mark.long)]
    )


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", counts(short=True))
def test_a_slow_rank_is_found(tmp_path, data, count):
    # GIVEN another rank in each session, to which its storage answers six times slower
    rng = np.random.default_rng(1)
    slow = rng.integers(WORLD, size=count).tolist()
    dealt = [shards(data, rng) for _ in slow]
    plans = [
        [session_of(dealt[n][rank], SLOW if rank == bad else FAST, data) for n, bad in enumerate(slow)]
        for rank in range(WORLD)
    ]

    # WHEN
    sessions = run_ranks(tmp_path, plans)

    # THEN
    for bad, session in zip(slow, sessions, strict=True):
        found = rank_findings(session)
        assert set(found) == {"slow_rank"}
        assert f"rank {bad} " in found["slow_rank"].title
        # Its seconds may be those that copies on a local disk give back, too.
        assert found["slow_rank"].gain.saved_s > 0


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", counts(short=False))
def test_a_slow_mount_of_one_node_is_found(tmp_path, data, scratch, count):
    # GIVEN two nodes, of which one, not always the same, has a slow mount; half of each step is read from it
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--uts", "true"]).returncode:
        pytest.skip("this machine makes no host names")
    rng = np.random.default_rng(2)
    slow = rng.integers(2, size=count).tolist()
    plans: list[list[dict[str, object]]] = [[] for _ in range(WORLD)]
    for bad in slow:
        for rank, steps in enumerate(shards(data, rng)):
            mixed = [[first, str(scratch / Path(second).name)] for first, second in steps]
            plans[rank].append(session_of(mixed, SLOW if rank // 2 == bad else FAST, scratch))

    # WHEN
    sessions = run_ranks(tmp_path, plans, [f"n{rank // 2}" for rank in range(WORLD)])

    # THEN
    for bad, session in zip(slow, sessions, strict=True):
        found = rank_findings(session)
        assert set(found) == {"slow_node"}
        assert f"node n{bad} " in found["slow_node"].title
        assert "The slow mount is /dev/shm (" in found["slow_node"].what


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", counts(short=False))
def test_a_reader_that_is_not_sharded_is_found(tmp_path, data, count):
    # GIVEN ranks that all read all files, each in an order of its own
    rng = np.random.default_rng(3)

    def everything():
        return [[str(data / f"{n:03}") for n in step] for step in rng.permutation(FILES).reshape(STEPS, 8)]

    plans = [[session_of(everything(), FAST, data) for _ in range(count)] for _ in range(WORLD)]

    # WHEN
    sessions = run_ranks(tmp_path, plans)

    # THEN
    for session in sessions:
        found = rank_findings(session)
        assert set(found) == {"unsharded_input"}
        # Its seconds may be those that more readers or copies give back, too.
        assert found["unsharded_input"].gain.saved_s > 0


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", counts(short=False))
def test_nothing_is_found_in_clean_jobs(tmp_path, data, count):
    # GIVEN storage that is as slow for all
    rng = np.random.default_rng(4)
    dealt = [shards(data, rng) for _ in range(count)]
    plans = [[session_of(dealt[n][rank], SLOW, data) for n in range(count)] for rank in range(WORLD)]

    # THEN
    for session in run_ranks(tmp_path, plans):
        assert rank_findings(session) == {}
