"""The time model of a step: its arithmetic, and its terms as they are measured."""

from typing import Any

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.steps.step_model import StepModel
from tfdarshan.findings.measurement import measure
from tfdarshan.workloads.step_parts import StorageDevice


def model(**more):
    terms: dict[str, Any] = {
        "unit": "step", "units": 10, "unit_s": 10.0, "wait_s": 4.0, "most_wait_s": 4.0, "overlap": 0.0,
        "storage_s": 3.0, "readers": 2.0, "busy_share": 0.75,
    }  # fmt: skip
    return StepModel(**(terms | more))


def test_without_overlap_the_step_is_the_sum():
    # GIVEN a step of 10 s that waits 4 s for a pipeline of 4 s
    found = model()

    assert (found.pipeline_s, found.compute_s, found.other_s) == (4.0, 6.0, 1.0)


def test_with_overlap_the_step_is_the_longer():
    # GIVEN the same step with the pipeline at work all the time
    found = model(overlap=1.0)

    assert found.pipeline_s == 10.0


def test_a_pipeline_that_the_steps_hold_back_is_as_quick_as_its_calls():
    # GIVEN a wait of 0.1 s in 10 s
    found = model(wait_s=0.1, most_wait_s=0.1, overlap=1.0, storage_s=2.0)

    assert found.pipeline_s == 2.0


def test_a_storage_devices_time_is_latency_over_concurrency_and_bytes_over_bandwidth():
    storage = StorageDevice(latency_s=0.01, bandwidth_bytes=1e6, concurrency=4)

    assert storage.seconds(200, 3e6) == 200 * 0.01 / 4 + 3


def test_terms_of_a_pipeline_that_rests_while_steps_compute(tmp_path):
    # GIVEN 10 steps of 100 ms; in the first 40 of each two threads read, each for 30 ms
    calls = []
    for n in range(10):
        calls += [(100 * n, 100 * n + 30, tid, "pread", 0, 1000) for tid in (1, 2)]
    session = training(tmp_path, calls, epochs_of_steps(10, 100, 40))

    # WHEN
    found = measure(session).model

    # THEN S = 100, W = 40, C = 60, o = 0, T_s = 2 x 30 / 2
    assert (found.unit, found.units) == ("step", 10)
    assert (found.unit_s, found.wait_s, found.compute_s) == pytest.approx((0.1, 0.04, 0.06))
    assert found.overlap == 0.0
    assert found.readers == pytest.approx(2.0)
    assert found.storage_s == pytest.approx(0.03)
    assert found.busy_share == pytest.approx(0.75)


def test_terms_of_a_pipeline_that_never_rests(tmp_path):
    # GIVEN the same with both threads reading all the time
    calls = [(50 * n, 50 * n + 50, tid, "pread", 0, 1000) for n in range(20) for tid in (1, 2)]
    session = training(tmp_path, calls, epochs_of_steps(10, 100, 40))

    # WHEN
    found = measure(session).model

    # THEN o = 1 and P = T_s = S
    assert (found.overlap, found.readers) == pytest.approx((1.0, 2.0))
    assert (found.pipeline_s, found.storage_s, found.other_s) == pytest.approx((0.1, 0.1, 0.0))


def test_threads_that_take_turns_are_as_many_readers_as_run_at_a_time(tmp_path):
    # GIVEN four threads of a pool, one of which reads at a time
    calls = [(10 * n, 10 * n + 10, 1 + n % 4, "pread", 0, 1000) for n in range(100)]
    session = training(tmp_path, calls, epochs_of_steps(10, 100, 40))

    # WHEN
    readers = measure(session).pipeline.readers

    # THEN
    assert (readers.readers, readers.threads, readers.together) == pytest.approx((1.0, 4.0, 1.0))


def test_what_the_loop_reads_outside_of_its_wait_stands_in_its_way(tmp_path):
    # GIVEN a loop that reads 20 ms in its wait of 40, and 10 ms after it
    calls = []
    for n in range(10):
        calls += [
            (100 * n, 100 * n + 20, LOOP, "read", 0, 10),
            (100 * n + 50, 100 * n + 60, LOOP, "read", 0, 10),
        ]
    session = training(tmp_path, calls, epochs_of_steps(10, 100, 40))

    # WHEN
    group = measure(session).group("read")

    # THEN
    assert (group.calls, group.moved_bytes) == (20, 200)
    assert (group.beside_s, group.within_s) == pytest.approx((0.2, 0.1))


def test_steps_after_the_end_of_the_trace_are_left_out(tmp_path):
    # GIVEN 10 steps of 100 ms of which the first four are known to wait 40
    steps = [(100 * n, 100 * n + 100, 40 if n < 4 else -1) for n in range(10)]
    session = training(tmp_path, [(100 * n, 100 * n + 40, 1, "pread", 0, 10) for n in range(10)], steps)

    # WHEN
    measures = measure(session)

    # THEN
    assert (measures.model.units, measures.model.wait_s) == (4, pytest.approx(0.04))
    assert measures.group("read").calls == 4


def test_waits_known_here_and_there_are_not_known(tmp_path):
    steps = [(100 * n, 100 * n + 100, 40 if n % 2 else -1) for n in range(10)]
    session = training(tmp_path, [(0, 40, 1, "pread", 0, 10)], steps)

    assert measure(session).model.wait_s is None
