import numpy as np

from tfdarshan.analysis.steps.loader_waits import waits_of


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
