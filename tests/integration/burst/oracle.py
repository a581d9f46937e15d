"""What must hold on the slow tier at any instant, found out with TensorFlow alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests import later_tensorflow as tf
from tests.integration.burst.checkpoint_pool import VALUES, pool_number


def restorable_number(slow: Path) -> int:
    """Return the number of what TensorFlow takes for the latest, after reading all of it; 0 for none."""
    latest = tf.train.latest_checkpoint(str(slow))
    if latest is None:
        return 0
    number = int(latest.rpartition("-")[2])
    expected = pool_number(number)
    reader = tf.train.load_checkpoint(latest)
    tensors = {name.split("/")[0]: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    assert int(tensors["number"]) == expected
    np.testing.assert_array_equal(tensors["a"], np.full(VALUES, expected, np.float32))
    np.testing.assert_array_equal(tensors["b"], np.arange(VALUES, dtype=np.float32) * expected)
    return number


def check_all_named(slow: Path) -> None:
    """Read every checkpoint that the state file names."""
    state = tf.train.get_checkpoint_state(str(slow))
    for path in state.all_model_checkpoint_paths if state else ():
        number = pool_number(int(path.rpartition("-")[2]))
        assert int(tf.train.load_variable(path, "number/.ATTRIBUTES/VARIABLE_VALUE")) == number
        np.testing.assert_array_equal(
            tf.train.load_variable(path, "a/.ATTRIBUTES/VARIABLE_VALUE"), np.full(VALUES, number, np.float32)
        )


def reported_numbers(report: Path) -> list[int]:
    """Read the checkpoints that were reported durable, in that order."""
    return [int(line) for line in report.read_text().split()] if report.exists() else []
