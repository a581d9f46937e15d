"""Workers without a shard are counted, and workers that are older than the session are said to be so."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.findings import few_shards, head_of_line
from tfdarshan.findings.finding import Unknown
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.session_facts import facts_of

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[3]


def session_of(folder, kind):
    """Run the job, and return its session."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/integration/pytorch/workers_job.py"), str(folder), kind],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tfdarshan.open_session(json.loads(done.stdout.splitlines()[-1])["session"])


def test_workers_without_a_shard_are_found(tmp_path):
    # GIVEN four workers that are started for each epoch, and two shards
    session = session_of(tmp_path, "started")

    # THEN
    (loader,) = session.meta[0]["loaders"]["found"]
    assert (loader["workers"], loader["working"], loader["passes"]) == (4, 2, 2)
    assert facts_of(session).pipeline.readers == 2
    assert few_shards.find(measure(session)).title == "the input has shards for only 2 of 4 workers"


def test_workers_older_than_the_session_are_told_of(tmp_path):
    # GIVEN workers that live on from an epoch before the session
    session = session_of(tmp_path, "older")

    # THEN their batches are known, and not when these were made
    (loader,) = session.meta[0]["loaders"]["found"]
    assert (loader["working"], loader["batches"]) == (2, 60)
    found = head_of_line.find(measure(session))
    assert isinstance(found, Unknown)
    assert "started before the session" in found.why
