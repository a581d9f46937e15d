"""The time model of a step: its arithmetic, and its terms as they are measured."""

from typing import Any

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.step_model import StepModel, most_of_a_run_s, most_saved_s, noise_s
from tfdarshan.analysis.step_parts import StorageDevice
from tfdarshan.findings.measurement import measure


def model(**more):
    terms: dict[str, Any] = {
        "unit": "step", "units": 10, "unit_s": 10.0, "wait_s": 4.0, "most_wait_s": 4.0, "overlap": 0.0,
        "storage_s": 3.0, "readers": 2.0, "busy_share": 0.75,
    }  # fmt: skip
    return StepModel(**(terms | more))


def test_without_overlap_the_step_is_the_sum():
    # GIVEN a step of 10 s that waits 4 s for a pipeline of 4 s
    found = model()

    # THEN twice the pipeline's time adds 4 s, none leaves 6 s
    assert (found.pipeline_s, found.compute_s, found.other_s) == (4.0, 6.0, 1.0)
    assert [found.step_s(p) for p in (4.0, 8.0, 0.0)] == [10.0, 14.0, 6.0]


def test_with_overlap_the_step_is_the_longer():
    # GIVEN the same step with the pipeline at work all the time
    found = model(overlap=1.0)

    # THEN the pipeline takes 10 s, and is hidden below 6 s
    assert found.pipeline_s == 10.0
    assert [found.step_s(p) for p in (10.0, 12.0, 6.0, 1.0)] == [10.0, 12.0, 6.0, 6.0]


@pytest.mark.parametrize("overlap", [0.0, 0.3, 1.0])
def test_what_is_saved_is_what_was_waited_for_whatever_the_overlap(overlap):
    found = model(overlap=overlap)

    for less in (0.0, 1.0, 4.0, 5.0):
        expected = min(less, 4.0)
        assert found.saved_s(less) == expected
        if less <= found.pipeline_s:
            assert 10.0 - found.step_s(found.pipeline_s - less) == pytest.approx(expected)


def test_a_pipeline_that_the_steps_hold_back_is_as_quick_as_its_calls():
    # GIVEN a wait of 0.1 s in 10 s
    found = model(wait_s=0.1, most_wait_s=0.1, overlap=1.0, storage_s=2.0)

    # THEN twice its calls' time still hides behind 9.9 s of compute
    assert found.pipeline_s == 2.0
    assert found.step_s(4.0) == pytest.approx(9.9)


def test_what_is_left_gets_quicker_the_more_is_gone():
    # GIVEN 10 s of which half is gone, or a tenth
    half, tenth = (most_saved_s(10.0, saved_s) for saved_s in (5.0, 1.0))

    # THEN the other half takes 0.2 less, so that 2x becomes 2.5x; the nine tenths take 0.04 less
    assert half == pytest.approx(6.0)
    assert 10.0 / (10.0 - half) == pytest.approx(2.5)
    assert tenth == pytest.approx(1.0 + 0.04 * 9.0)


def test_another_run_takes_a_bit_more_or_less_of_what_is_left_and_of_a_step():
    # THEN 3 % of the 9 or 4 s that are left of 10, and 1 % of all where little is left
    assert [noise_s(10.0, saved_s) for saved_s in (1.0, 6.0, 9.9)] == pytest.approx([0.27, 0.12, 0.1])


def test_a_run_that_hardly_takes_anything_differs_by_a_part_of_that():
    # THEN 0.01 s of 10 that are left differ by a fifth of that, and not by 1 % of 10 s, and get quicker
    most_s = most_of_a_run_s(10.0, 9.99)
    assert most_s == pytest.approx(most_saved_s(10.0, 9.99 + 0.2 * 0.01))
    assert 10.0 / (10.0 - most_s) < 2.2 * 1000

    # ... and where much is left by as much as runs do, which is 3 % of it
    assert most_of_a_run_s(10.0, 6.0) == pytest.approx(most_saved_s(10.0, 6.0 + 0.12))


def test_nothing_gets_quicker_where_nothing_is_gone_or_nothing_is_left():
    # THEN what saves nothing, or takes more, and what there is nothing of, gives itself
    assert [most_saved_s(10.0, saved_s) for saved_s in (0.0, -3.0)] == [0.0, -3.0]
    assert most_saved_s(0.0, 0.0) == 0.0

    # ... and of all that there is all is saved at most, by more the more is gone
    assert most_saved_s(10.0, 10.0) == 10.0
    found = [most_saved_s(10.0, tenths / 10) for tenths in range(101)]
    assert found == sorted(found)
    assert max(found) <= 10.0


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
