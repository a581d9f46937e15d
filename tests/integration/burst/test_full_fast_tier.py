"""A fast tier with room for little more than one checkpoint."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tfdarshan.checkpoint import BurstBuffer, read_ledger
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.ledger import ledger_path

VALUES = 300_000
CHECKPOINT_BYTES = 4 * VALUES

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tmpfs needs root")


@pytest.fixture
def fast(tmp_path):
    """Mount tmpfs of a size."""
    folder = tmp_path / "fast"
    folder.mkdir()
    mounts = []

    def mount(size_bytes):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", folder], check=True)
        mounts.append(folder)
        return folder

    yield mount
    for folder in mounts:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("asynchronous", [True, False], ids=["asynchronous", "at once"])
def test_saves_wait_for_room_and_all_become_durable(fast, tmp_path, asynchronous):
    # GIVEN room for two checkpoints and a half, and a slow tier that takes half a second for each
    value = tf.Variable(tf.zeros([VALUES]))
    with BurstBuffer(
        tf.train.Checkpoint(value=value),
        fast_dir=fast(CHECKPOINT_BYTES * 5 // 2),
        slow_dir=tmp_path / "slow",
        max_to_keep=None,
        max_pending=10,
        bandwidth_mb_s=2 * CHECKPOINT_BYTES / 1e6,
        asynchronous=asynchronous,
    ) as buffer:
        # WHEN five are saved at once
        for number in range(1, 6):
            value.assign(tf.fill([VALUES], float(number)))
            assert Path(buffer.save()).name == f"ckpt-{number}"

    # THEN
    for number in range(1, 6):
        np.testing.assert_array_equal(
            tf.train.load_variable(
                str(tmp_path / "slow" / f"ckpt-{number}"), "value/.ATTRIBUTES/VARIABLE_VALUE"
            ),
            np.full(VALUES, number, np.float32),
        )


def test_a_fast_tier_without_room_for_one_is_told(fast, tmp_path):
    # GIVEN
    checkpoint = tf.train.Checkpoint(value=tf.Variable(tf.zeros([VALUES])))
    folder = fast(CHECKPOINT_BYTES // 2)
    buffer = BurstBuffer(checkpoint, fast_dir=folder, slow_dir=tmp_path / "slow")

    # WHEN / THEN
    buffer.save()
    with pytest.raises(BurstBufferError, match=r"could not be written to .*No space left on device"):
        buffer.sync()
    assert not [path.name for path in folder.iterdir() if path.name.startswith("ckpt")]
    (row,) = read_ledger(ledger_path(folder))
    assert row.outcome == "failed"
    assert buffer.close()
