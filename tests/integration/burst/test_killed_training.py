"""Real training is killed again and again, and goes on where it was."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tests.lean_tensorflow import WITHOUT_KERAS
from tfdarshan.checkpoint import read_ledger
from tfdarshan.checkpoint.ledger import ledger_path

JOB = Path(__file__).with_name("training_job.py")
LONGEST_S = 1.5


def whole_step(slow: Path) -> int:
    """Return the step of the latest checkpoint, all of whose values belong to that step; 0 without one."""
    latest = tf.train.latest_checkpoint(str(slow))
    if latest is None:
        return 0
    step = int(tf.train.load_variable(latest, "step/.ATTRIBUTES/VARIABLE_VALUE"))
    for number in range(4):
        value = tf.train.load_variable(latest, f"values/{number}/.ATTRIBUTES/VARIABLE_VALUE")
        np.testing.assert_array_equal(value, np.full(40_000, step, np.float32))
    return step


def durable_step(ledger: Path) -> int:
    """Return the last step that the ledger says is durable."""
    rows = read_ledger(ledger_path(ledger))
    return max((row.step for row in rows if row.slow_durable_at is not None), default=0)


def train_and_kill(folder: Path, kills: int) -> int:
    """Check what is there after each kill and what the next run restores; return the last durable step."""
    chosen, before = random.Random(kills), 0
    for number in range(kills):
        job = subprocess.Popen(
            [sys.executable, JOB, folder],
            env={**os.environ, **WITHOUT_KERAS}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        restored = int(job.stdout.readline())
        assert restored >= before, f"kill {number}: restored {restored}, although {before} was durable"
        time.sleep(chosen.uniform(0.2, LONGEST_S))
        assert job.poll() is None, f"kill {number}: the job ended by itself"
        job.kill()
        job.communicate()
        found = whole_step(folder / "slow")
        assert found >= max(before, durable_step(folder / "slow")), f"kill {number}"
        before = found
    return before


@pytest.mark.timeout(900)
def test_training_that_is_killed_goes_on(tmp_path):
    assert train_and_kill(tmp_path, kills=2) > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_training_that_is_killed_often_goes_on(tmp_path):
    assert train_and_kill(tmp_path, kills=30) > 30
