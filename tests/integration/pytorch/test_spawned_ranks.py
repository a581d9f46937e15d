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


def test_ranks_of_a_process_group_are_in_one_session(tmp_path):
    # GIVEN
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    job = [str(ROOT / "tests/integration/pytorch/spawned_ranks.py"), str(tmp_path), str(free_ports(1)[0])]

    # WHEN
    done = subprocess.run(
        [sys.executable, *job], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip

    # THEN each has its steps in a session of both
    assert done.returncode == 0, done.stderr
    (found,) = tfdarshan.find_sessions(tmp_path)
    session = tfdarshan.open_session(found)
    assert [rank.rank for rank in session.joint.ranks] == list(range(RANKS))
    assert (session.joint.world_size, session.joint.missing) == (RANKS, ())
    assert [len(session.of_rank(rank).steps) for rank in session.joint.ranks] == [STEPS] * RANKS
