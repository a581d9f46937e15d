"""The network against what can be worked out by hand."""

from typing import Any

import numpy as np
import pytest

from tests.unit.replay.plain_network import plain_model
from tfdarshan.replay.simulate import simulate


def total_s(**values):
    return float(simulate(plain_model(**values)).total_s[0])


def test_one_reader_waits_for_each_task_in_turn():
    # GIVEN 10 batches of 4 tasks, 5 ms of latency each, and 7 ms of compute
    run = simulate(plain_model(batches=10, tasks_per_batch=4, wait_s=0.005, compute_s=0.007))

    # THEN nothing overlaps
    assert run.total_s[0] == pytest.approx(10 * (4 * 0.005 + 0.007))
    assert run.wait_s[0] == pytest.approx(10 * 4 * 0.005)


def test_four_readers_share_pure_latency():
    assert total_s(batches=10, tasks_per_batch=4, wait_s=0.005, readers=4) == pytest.approx(10 * 0.005)


def test_a_worker_prepares_all_of_a_batch():
    # GIVEN four readers, that share a batch's tasks, or prepare a batch each
    each = {"batches": 8, "tasks_per_batch": 4, "wait_s": 0.005, "readers": 4, "batches_ahead": 4}

    # THEN the first batch takes as long as one reader does, and the next three come with it
    assert total_s(**each, calls_ahead=16) == pytest.approx(8 * 0.005)
    assert total_s(**each, calls_ahead=4, whole_batches=True) == pytest.approx(2 * 0.020)


def test_workers_take_turns_at_the_processors_from_the_first_batch_on():
    # GIVEN eight batches, each of 100 ms of decoding on two processors, and 10 ms of compute
    def first_and_last_s(readers):
        run = simulate(
            plain_model(
                batches=8, work_s=0.1, work_serial=0.5, compute_s=0.010, readers=readers, calls_ahead=readers,
                batches_ahead=readers, whole_batches=True,
            )
        )  # fmt: skip
        return pytest.approx([run.got_s[0, 0], run.total_s[0]])

    # THEN two workers bring one every 50 ms, and eight bring all of them after 400 ms
    assert first_and_last_s(2) == [0.1, 0.1 + 7 * 0.05 + 0.010]
    assert first_and_last_s(8) == [0.4, 0.4 + 8 * 0.010]


def test_workers_that_rest_take_no_turns():
    # GIVEN a loop that is slower than one of its eight workers, behind its first batches
    seconds = total_s(
        batches=64, work_s=0.1, work_serial=0.5, compute_s=0.2, readers=8, calls_ahead=8, batches_ahead=8,
        whole_batches=True,
    )  # fmt: skip

    # THEN it waits for these alone
    assert seconds == pytest.approx(0.4 + 64 * 0.2)


def test_a_full_pipe_gives_no_more_to_more_readers():
    # GIVEN transfers that fill the link, whoever asks
    one, many = (
        total_s(batches=10, tasks_per_batch=4, transfer_s=0.005, transfer_serial=1, readers=readers)
        for readers in (1, 16)
    )

    # THEN
    assert one == pytest.approx(10 * 4 * 0.005)
    assert many == pytest.approx(one)


def test_readers_get_no_more_than_what_is_served_one_at_a_time():
    # GIVEN calls of 10 ms, a tenth of which is served one at a time: no more than one each 1 ms
    seconds = total_s(batches=1, tasks_per_batch=400, wait_s=0.010, wait_serial=0.1, readers=64)

    # THEN 400 of them take 400 turns, and the last one the rest of its own time
    assert seconds == pytest.approx(400 * 0.001 + 0.009)


@pytest.mark.parametrize(("wait_s", "compute_s"), [(0.010, 0.030), (0.030, 0.010), (0.020, 0.020)])
def test_prefetch_hides_the_shorter_of_wait_and_compute(wait_s, compute_s):
    # GIVEN
    job = plain_model(batches=50, wait_s=wait_s, compute_s=compute_s)

    # WHEN
    before, after = (simulate(one).total_s[0] for one in (job, job.but(batches_ahead=np.array([1]))))

    # THEN all but the first batch
    assert before - after == pytest.approx(49 * min(wait_s, compute_s))


def test_a_cache_helps_from_the_second_epoch_on():
    # GIVEN three epochs, of which memory serves the last two
    wait_s = np.repeat([0.010, 0.0, 0.0], 20)[:, None]

    # THEN
    assert total_s(batches=60, epochs=3, wait_s=wait_s, compute_s=0.002) == pytest.approx(
        20 * 0.010 + 60 * 0.002
    )


def test_an_epoch_begins_when_its_first_batch_is_asked_for():
    # GIVEN a prefetch that goes on beside compute, and not from one epoch to the next
    seconds = total_s(batches=20, epochs=2, wait_s=0.010, compute_s=0.010, batches_ahead=4)

    # THEN each epoch waits for its first batch
    assert seconds == pytest.approx(20 * 0.010 + 2 * 0.010)


def test_readers_that_go_on_hide_the_first_batch_of_the_next_epoch():
    # GIVEN the same, with a data set that repeats
    late_s = np.array([[0.0], [np.nan]])

    # THEN
    seconds = total_s(batches=20, epochs=2, wait_s=0.010, compute_s=0.010, batches_ahead=4, late_s=late_s)
    assert seconds == pytest.approx(20 * 0.010 + 0.010)


def test_two_changes_together_give_more_than_either():
    # GIVEN a batch of 8 tasks of 10 ms, and 20 ms of compute
    job = plain_model(batches=30, tasks_per_batch=8, wait_s=0.010, compute_s=0.020)
    ahead, four = {"batches_ahead": np.array([1])}, {"readers": np.array([4])}

    # WHEN
    both = simulate(job.but(**ahead, **four)).total_s[0]

    # THEN four readers need 20 ms for it, as long as the step computes
    assert simulate(job.but(**ahead)).total_s[0] == pytest.approx(30 * 0.080 + 0.020)
    assert simulate(job.but(**four)).total_s[0] == pytest.approx(30 * 0.040)
    assert both == pytest.approx(0.020 + 30 * 0.020)


def test_a_long_task_holds_up_those_behind_it_only_if_they_keep_their_order():
    # GIVEN two readers, and eleven tasks of which the first takes as long as the others together
    job = {"batches": 11, "readers": 2, "calls_ahead": 2, "wait_s": np.array([1.0] + [0.1] * 10)[:, None]}

    # THEN one reader does all others beside it, or both wait for it, and do nine of them then
    assert total_s(**job, in_order=0) == pytest.approx(1.0)
    assert total_s(**job, in_order=1) == pytest.approx(1.0 + 5 * 0.1)


def test_a_token_bucket_lends_its_burst_once():
    # GIVEN 100 tasks that use up 10 ms each of a limit that lends 300 ms
    job = {"batches": 100, "limit_s": 0.010, "burst_s": 0.3}

    # THEN the first 30 pass at once
    assert total_s(**job) == pytest.approx(100 * 0.010 - 0.3)


def test_a_token_bucket_fills_while_nobody_asks():
    # GIVEN steps that rest as long as the bucket takes to fill again
    assert total_s(batches=50, limit_s=0.010, burst_s=0.010, compute_s=0.012) == pytest.approx(50 * 0.012)


def test_a_token_bucket_gives_no_more_to_more_readers():
    job = {"batches": 10, "tasks_per_batch": 16, "limit_s": 0.010, "wait_s": 0.001}
    assert total_s(**job, readers=16) == pytest.approx(160 * 0.010 + 10 * 0.001, rel=0.01)


def test_a_chain_of_dependent_reads_is_one_reader_s():
    # GIVEN 16 samples, each a chain of four page reads of 2 ms
    chain = {"batches": 5, "tasks_per_batch": 16, "wait_s": 4 * 0.002}

    # THEN 64 readers help across samples, not within one
    assert total_s(**chain, readers=64, calls_ahead=16) == pytest.approx(5 * 0.008)


def test_seeks_take_turns_whoever_asks():
    job = {"batches": 5, "tasks_per_batch": 8, "seek_s": 0.008}
    assert total_s(**job, readers=8) == pytest.approx(total_s(**job))


def test_python_s_lock_lets_one_thread_decode():
    # GIVEN 5 ms of decoding, all of it with the lock, behind 1 ms of latency
    job = {"batches": 10, "tasks_per_batch": 8, "wait_s": 0.001, "work_s": 0.005, "work_serial": 1}

    # THEN eight threads hide the latency, and nothing else
    assert total_s(**job, readers=8) == pytest.approx(10 * (0.001 + 8 * 0.005))


def test_two_processors_decode_twice_as_much():
    # GIVEN decoding that two processors share
    seconds = total_s(batches=1, tasks_per_batch=400, work_s=0.004, work_serial=0.5, readers=8)

    # THEN
    assert seconds == pytest.approx(400 * 0.004 / 2, rel=0.01)


def test_what_is_parsed_behind_a_reader_overlaps_with_reading():
    job = {"batches": 1, "tasks_per_batch": 50, "wait_s": 0.004, "behind_s": 0.003, "behind_serial": 1}
    assert total_s(**job, calls_ahead=2) == pytest.approx(50 * 0.004 + 0.003)


def test_a_slow_file_does_not_hold_up_decoding_of_others():
    # GIVEN one task of 64 that waits for a second, and work that one processor does
    wait_s = np.full((64, 1), 0.001)
    wait_s[0] = 1.0

    # WHEN
    seconds = total_s(batches=1, tasks_per_batch=64, wait_s=wait_s, work_s=0.010, work_serial=1, readers=8)

    # THEN the others are decoded meanwhile
    assert seconds == pytest.approx(1.010, abs=0.002)


def test_writes_and_reads_take_turns_at_storage():
    # GIVEN a loop that writes for 10 ms after each step, beside reads that need as much
    job = plain_model(
        batches=40, transfer_s=0.010, write_s=0.010, transfer_serial=1, batches_ahead=1, compute_s=0.001
    )

    # THEN both fill the pipe together
    assert simulate(job).total_s[0] == pytest.approx(40 * 0.020, rel=0.06)


def test_writes_in_the_background_are_not_waited_for():
    job = {"batches": 40, "compute_s": 0.020}
    assert total_s(**job, beside_s=0.010, transfer_serial=1) == pytest.approx(40 * 0.020)


def test_a_batch_that_is_ready_takes_what_it_takes_to_hand_it_over():
    assert total_s(batches=10, compute_s=0.001, hand_s=0.0002) == pytest.approx(10 * 0.0012)


def test_batches_count_as_often_as_they_stand_for():
    # GIVEN a batch that stands for nine more
    job = plain_model(batches=2, wait_s=np.array([[0.005], [0.002]]), compute_s=0.001)

    # THEN
    run = simulate(job.but(weight=np.array([1.0, 10.0])))
    assert run.total_s[0] == pytest.approx(0.006 + 10 * 0.003)
    assert run.wait_s[0] == pytest.approx(0.005 + 10 * 0.002)


def test_samples_do_not_touch_each_other():
    # GIVEN three samples of different readers and latencies
    values: Any = {"batches": 12, "tasks_per_batch": 6, "compute_s": 0.004, "calls_ahead": 2}
    readers, waits = [1, 3, 8], [0.002, 0.007, 0.011]

    # WHEN
    together = simulate(
        plain_model(**values, samples=3, readers=np.array(readers), wait_s=np.tile(waits, (72, 1)))
    )

    # THEN
    alone = [
        total_s(**values, readers=count, wait_s=wait) for count, wait in zip(readers, waits, strict=True)
    ]
    assert together.total_s.tolist() == pytest.approx(alone)
