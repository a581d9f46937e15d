"""Steps of Keras on JAX and on PyTorch, whose batches come from a DataLoader."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[3]
READ_S, SAMPLES, EPOCHS = 0.002, 32, 2


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_the_batches_of_training_are_steps(backend, tmp_path):
    # GIVEN
    for package in ("torch", "keras", backend):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")

    # WHEN
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/integration/pytorch/keras_job.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": backend},
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    steps = tfdarshan.open_session(said["session"]).steps

    # THEN neither the batch that builds the model nor the validation set makes steps
    assert len(steps) == said["steps"]
    assert sorted(set(steps["epoch"])) == [1, 2]
    assert steps["input_wait_ns"].sum() / 1e9 >= EPOCHS * SAMPLES * READ_S
