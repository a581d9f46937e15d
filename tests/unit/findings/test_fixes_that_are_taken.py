"""Fixes that the seen API can take: no open files for tf.data, no cache in workers that end with an epoch."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, LOAD, PATHS
from tests.unit.findings.made_up_jobs import pipeline_job as of_tf_data
from tfdarshan.analysis.ranks.worker_lives import WorkerLives, worker_lives
from tfdarshan.findings.fix_lines import keep_in_memory, more_readers, read_ahead
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.reopening import FIX, keeps_open

MAIN = {
    "pid": 1,
    "owner": True,
    "start_ns": 0,
    "duration_ns": 100,
    "role": {"kind": "main", "number": 0, "name": ""},
}


def worker(number, start_ns, end_ns):
    role = {"kind": "worker", "number": number, "name": ""}
    return {
        "pid": 1 + number,
        "owner": False,
        "start_ns": start_ns,
        "duration_ns": end_ns - start_ns,
        "role": role,
    }


# Two workers in each of two epochs; two workers that last.
ANEW = [MAIN, worker(1, 0, 45), worker(2, 1, 46), worker(3, 50, 95), worker(4, 51, 96)]
LASTING = [MAIN, worker(1, 0, 95), worker(2, 1, 96)]


@pytest.mark.parametrize(
    ("meta", "lives"),
    [(ANEW, WorkerLives(4, 2)), (LASTING, WorkerLives(2, 2)), ([MAIN], WorkerLives(0, 0))],
)
def test_workers_of_all_epochs_are_not_added_up(meta, lives):
    assert worker_lives(meta) == lives
    assert lives.started_anew is (meta is ANEW)


def with_workers(tmp_path, meta):
    """Return a job of PyTorch whose workers are these."""
    measures = measure(of_tf_data(tmp_path, readers=2, versions={"torch": "2.8.0"}))
    session: Any = SimpleNamespace(meta=meta)
    measured = replace(measures.measured, session=session)
    return replace(measures, measured=measured, summary=replace(measures.summary, processes=len(meta)))


@pytest.mark.parametrize("meta", [ANEW, LASTING])
def test_a_loader_is_shown_with_the_workers_that_it_has(tmp_path, meta):
    # GIVEN a loader of two workers, started anew for each of two epochs, or not
    measures = with_workers(tmp_path, meta)

    # THEN
    loader = "loader = DataLoader(dataset, batch_size=batch_size, num_workers=2"
    assert more_readers(measures, 8, 2).instead_of == f"{loader})"
    assert read_ahead(measures).line == f"{loader}, prefetch_factor=4)"


def test_workers_that_end_with_an_epoch_are_given_what_they_inherit(tmp_path):
    anew, lasting = (with_workers(tmp_path / name, meta) for name, meta in (("a", ANEW), ("b", LASTING)))

    # THEN nothing is offered that ends with them
    assert keep_in_memory(anew).line == "samples = {path: read(path) for path in paths}"
    assert keep_in_memory(anew).what.endswith(
        "Workers end with each epoch: read all samples before the first epoch, so that workers inherit them."
    )
    assert not keeps_open(anew)
    assert keep_in_memory(lasting).line.startswith("@functools.cache\n")
    assert "read() returns a sample. Draw random augmentation behind it" in keep_in_memory(lasting).what
    assert keeps_open(lasting)


@pytest.mark.parametrize(("stages", "can"), [((PATHS, LOAD, BATCH), False), ((PATHS, GENERATOR), True)])
def test_no_handle_is_offered_to_a_map_of_tf_data(tmp_path, stages, can):
    # GIVEN a map that TensorFlow's own reader reads in, or a generator of Python
    measures = measure(of_tf_data(tmp_path, *stages))

    # THEN a line is offered that its API takes
    assert keeps_open(measures) is can
    assert FIX.what == "Open each file once and keep it open, or keep what was read in memory."
    assert FIX.line == "files = {path: open(path, 'rb', buffering=0) for path in paths}  # once"
