"""Ranks that a job starts itself, without a launcher that names them in the environment."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.oracle.data_files import free_ports

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[3]
RANKS, STEPS = 2, 6


def run_job(logdir, method, *prefix):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    job = [str(ROOT / "tests/integration/pytorch/spawned_ranks.py"), logdir, str(free_ports(1)[0]), method]
    done = subprocess.run(
        [sys.executable, *prefix, *job], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def only_session(logdir):
    (found,) = tfdarshan.find_sessions(logdir)
    return tfdarshan.open_session(found)


def check_ranks(session):
    assert [rank.rank for rank in session.joint.ranks] == list(range(RANKS))
    assert (session.joint.world_size, session.joint.missing) == (RANKS, ())
    assert [len(session.of_rank(rank).steps) for rank in session.joint.ranks] == [STEPS] * RANKS


def test_ranks_of_a_process_group_are_in_one_session(tmp_path):
    # WHEN ranks record themselves
    run_job(str(tmp_path), "spawn")

    # THEN each has its steps in a session of both
    check_ranks(only_session(tmp_path))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_ranks_that_a_recorded_process_starts_have_their_steps(tmp_path, method):
    # WHEN the process that starts them is recorded, and nothing in the script says so
    run_job("", method, "-m", "tfdarshan", "run", "--logdir", str(tmp_path))

    # THEN each rank has its steps, and the process that only starts them is there, too
    session = only_session(tmp_path)
    check_ranks(session)
    launcher, *others = [meta for meta in session.meta if meta["role"]["name"] == "launcher"]
    assert not others
    assert launcher["pid"] in {
        process.meta["pid"] for process in session.joint.ranks[0].processes if not process.meta["owner"]
    }
    # AND what the kernel counted of the ranks is not counted again with what it counted of their parent
    ranks = [rank.owner["kernel"] for rank in session.joint.ranks]
    assert all(one["counted"] == "own" and one["rchar"] > 0 for one in ranks)
    assert "2 ranks" in session.summary()
    assert "spawned_ranks.py" in session.summary()
