"""Steps of Accelerate, Lightning and the Trainer of Hugging Face, of scripts that nobody has changed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.frameworks.all_frameworks import words_of

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[3]
PACKAGES = {"accelerate": "accelerate", "lightning": "lightning", "trainer": "transformers"}
SAMPLES, EPOCHS, READ_S = 24, 2, 0.002


@pytest.mark.parametrize("name", PACKAGES)
def test_a_librarys_steps_are_found(name, tmp_path):
    # GIVEN
    for package in ("torch", PACKAGES[name]):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")

    # WHEN
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/integration/pytorch/libraries.py"), str(tmp_path), name],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    session = tfdarshan.open_session(said["session"])

    # THEN there are as many, and they waited for all samples but no others
    steps = session.steps
    assert len(steps) == said["steps"]
    assert set(steps["source"]) == {"PyTorch's optimizer"}
    waited_s = steps["input_wait_ns"].sum() / 1e9
    assert waited_s >= EPOCHS * SAMPLES * READ_S
    assert (steps["input_wait_ns"] <= steps["end_ns"] - steps["start_ns"]).all()
    training = [one for one in session.meta[0]["loaders"]["found"] if one["training"]]
    assert [one["batch_size"] for one in training] == [4]


def run(folder, *words):
    """Run Python in a folder, and return the last line that it printed."""
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_a_trainers_loader_is_changed_by_its_arguments(tmp_path):
    # GIVEN a job of Hugging Face's Trainer
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    said = run(tmp_path, str(ROOT / "tests/integration/pytorch/libraries.py"), str(tmp_path), "trainer")

    # WHEN the line of a fix is typed
    words = words_of(tfdarshan.open_session(json.loads(said)["session"]).meta[0])
    assert words is not None
    typed = ["from transformers import TrainingArguments", "output_dir = 'out'", words.more_readers(2).line]

    # THEN
    assert run(tmp_path, "-c", "\n".join([*typed, "print(args.dataloader_num_workers)"])) == "2"
