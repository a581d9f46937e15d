import numpy as np
import pytest

from tfdarshan.analysis.steps.loader_waits import idle_workers, slow_worker, waits_of

MS = 1_000_000


def test_waits_are_split_into_making_a_batch_and_its_way():
    # GIVEN batch 0 that is made from 0 to 50, came at 52, and batch 1 that was ready at 20
    columns = {
        "epoch": [1, 1, 1], "batch": [0, 1, 2], "worker": [0, 1, 0],
        "request_ns": [10, 60, 70], "arrival_ns": [52, 61, 90],
        "fetch_start_ns": [0, 0, 55], "fetch_end_ns": [50, 20, 80],
    }  # fmt: skip
    waits = waits_of({name: np.array(values, np.int64) for name, values in columns.items()})

    # THEN
    assert (waits.wait_s * 1e9).round().tolist() == [42, 1, 20]
    assert (waits.fetch_s * 1e9).round().tolist() == [40, 0, 10]
    assert (waits.ready_s * 1e9).round().tolist() == [30, 0, 0]
    assert (waits.back_s * 1e9).round().tolist() == [2, 1, 10]
    assert (waits.work_s * 1e9).round().tolist() == [50, 20, 25]


def of_workers(*work_ms, batches=10):
    """Return batches of workers that take so long each, all requested at once."""
    count = len(work_ms) * batches
    worker = np.arange(count) % len(work_ms)
    done = np.array(work_ms, np.int64)[worker] * MS
    columns = {"epoch": np.ones(count, int), "batch": np.arange(count), "worker": worker}
    columns |= dict.fromkeys(("request_ns", "fetch_start_ns"), np.zeros(count, np.int64))
    return waits_of(columns | dict.fromkeys(("arrival_ns", "fetch_end_ns"), done))


def test_a_worker_that_takes_twice_as_long_is_slow():
    # GIVEN three workers, one of which takes 50 ms
    slow = slow_worker(of_workers(10, 10, 50))

    # THEN each of its ten batches was waited for 40 ms longer
    assert (slow.worker, slow.times, slow.usual_s) == (2, pytest.approx(5), pytest.approx(0.01))
    assert slow.spared_s == pytest.approx(10 * 0.04)


@pytest.mark.parametrize(
    "waits", [of_workers(10, 10, 19), of_workers(50), of_workers(10, 50, batches=7)],
    ids=["alike", "alone", "few batches"],
)  # fmt: skip
def test_a_worker_that_is_hardly_slower_is_not(waits):
    assert slow_worker(waits) is None


@pytest.mark.parametrize(
    ("changed", "idle"),
    [
        ({}, 6),
        ({"iterable": False}, 0),  # batches are dealt out to all workers
        ({"working": 8}, 0),
        ({"working": 0}, 0),  # nobody said whose batches are
        ({"batches": 15}, 0),  # two epochs of fewer batches than workers
        ({"training": False}, 0),
    ],
)
def test_workers_without_a_shard_are_idle(changed, idle):
    # GIVEN
    loader = {"workers": 8, "working": 2, "iterable": True, "training": True, "batches": 16, "passes": 2}

    assert idle_workers({"loaders": {"found": [loader | changed]}}) == idle
