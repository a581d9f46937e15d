"""Readers are counted as the session shows them: how many reads run, and how many readers there are."""

from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.measurement import measure

KB = 1_000


def test_readers_that_rest_are_not_rounded_to_one(tmp_path):
    # GIVEN a map, one thread of which reads all the time, and another one 1.4 ms of each 10 ms
    calls = [
        (10.0 * n, 10.0 * n + took, tid, "pread", tid, 100 * KB, n * 100 * KB)
        for n in range(200)
        for tid, took in ((1, 10), (2, 1.4))
    ]
    paths = [f"/data/{n}" for n in range(3)]
    one = {"stages": [PATHS, LOAD, BATCH], "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {"pipelines": {"found": [one], "left_out": 0}}
    steps = epochs_of_steps(20, 100, 90)
    session = training(tmp_path, calls, steps, paths=paths, sizes=[10**9] * 3, meta=meta)

    # WHEN
    measures = measure(session)
    found = read_parallelism.find(measures)

    # THEN the title has the queue depth, and the sentence the readers
    assert found.title == "few reads run at a time (queue depth 1.1)"
    assert found.what.startswith(f"About {measures.model.readers:.1f} readers read at the same time, and ")
