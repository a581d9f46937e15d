"""Steps, waits and workers of a DataLoader's jobs, which nobody has changed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.integration.pytorch.kinds import BATCH, EPOCHS, FILE_BYTES, FILES, KINDS

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[3]
# Of the share of steps that waits for input, as the loop itself times it.
POINTS = 0.02


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the job once in all kinds, and return what it said of each."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    folder = tmp_path_factory.mktemp("torch")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/integration/pytorch/job.py"), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {one["kind"]: one | {"stderr": done.stderr} for one in said}


@pytest.mark.parametrize("kind", KINDS)
def test_steps_and_waits_are_those_that_the_loop_times(ran, kind):
    # GIVEN
    said, steps = ran[kind], tfdarshan.open_session(ran[kind]["session"]).steps

    # THEN
    assert len(steps) == said["steps"]
    share = steps["input_wait_ns"].sum() / (steps["end_ns"] - steps["start_ns"]).sum()
    assert abs(share - said["wait_share"]) <= POINTS
    assert sorted(set(steps["epoch"])) == list(range(1, EPOCHS + 1))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_the_same(ran, kind):
    # GIVEN
    bare, recorded = ran[kind]["bare"], ran[kind]["recorded"]

    # THEN
    assert recorded == bare or (kind == "unordered" and sorted(recorded) == sorted(bare))


@pytest.mark.parametrize("kind", KINDS)
def test_each_batch_and_each_read_is_tied_to_a_fetch(ran, kind):
    # GIVEN
    session = tfdarshan.open_session(ran[kind]["session"])
    batches = session.processes[0].table("batches").to_pandas()
    training = [place for place, one in enumerate(session.meta[0]["loaders"]["found"]) if one["training"]]
    batches = batches[batches["loader"].isin(training)]
    fetched = batches[batches["fetch_pid"] >= 0]

    # THEN each batch has its fetch
    assert len(fetched) == len(batches) == len(ran[kind]["recorded"])
    assert (fetched["fetch_start_ns"] <= fetched["fetch_end_ns"]).all()
    assert (fetched["fetch_end_ns"] <= fetched["arrival_ns"]).all()

    # AND each read of a file by one of these processes is within one
    events = session.events
    reads = events[events["path"].str.endswith(".bin") & (events["operation"] == "read")]
    reads = reads[reads["pid"].isin(fetched["fetch_pid"])]
    assert len(reads) >= EPOCHS * FILES
    for pid, made in reads.groupby("pid"):
        mine = fetched[fetched["fetch_pid"] == pid].sort_values("fetch_start_ns")
        place = np.searchsorted(mine["fetch_start_ns"], made["start_ns"], side="right") - 1
        assert (place >= 0).all()
        assert (made["end_ns"].to_numpy() <= mine["fetch_end_ns"].to_numpy()[place]).all()


@pytest.mark.parametrize("kind", ["no_workers", "workers", "spawned"])
def test_a_loader_says_of_what_size_its_batches_are(ran, kind):
    # GIVEN
    (found,) = tfdarshan.open_session(ran[kind]["session"]).meta[0]["loaders"]["found"]

    # THEN
    assert found["batch_bytes"] == BATCH * FILE_BYTES
    assert found["small_bytes"] == BATCH * FILE_BYTES


def test_training_and_validation_are_told_apart(ran):
    # GIVEN
    found = tfdarshan.open_session(ran["validated"]["session"]).meta[0]["loaders"]["found"]

    # THEN
    assert [(one["batch_size"], one["training"], one["passes"]) for one in found] == [
        (4, True, EPOCHS),
        (2, False, EPOCHS),
    ]


def test_what_carries_batches_is_no_input(ran):
    # GIVEN
    from tfdarshan.analysis.files.file_table import load_files
    from tfdarshan.analysis.files.input_files import input_files

    session = tfdarshan.open_session(ran["workers"]["session"])
    files = load_files(session.processes)
    paths = files.rows["path"].astype(str)

    # THEN
    assert set(paths[input_files(files)][1:].map(lambda path: Path(path).suffix)) == {".bin"}


def test_the_job_is_told_nothing(ran):
    assert "tfdarshan" not in ran["workers"]["stderr"]
