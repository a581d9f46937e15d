"""What of a call storage serves one at a time, on storage that is known."""

import numpy as np
import pytest

from tests.closed_readers import Delay, Queue, calls_of, shared_pipe
from tfdarshan.analysis.storage.serialization import call_time, serialized_share


def rests(mean_ms):
    return lambda noise: noise.expovariate(1 / mean_ms)


def measured(calls):
    start, end, _, _ = (np.array(column) for column in zip(*calls, strict=True))
    start_ns, end_ns = (start * 1e6).astype(np.int64), (end * 1e6).astype(np.int64)
    return serialized_share([(start_ns, end_ns, np.full(len(start), 5e-3))])


@pytest.mark.parametrize("readers", [2, 4, 8])
@pytest.mark.parametrize("rest_ms", [3, 10])
def test_storage_that_only_waits_serves_nothing_one_at_a_time(readers, rest_ms):
    found = measured(calls_of(Delay(5), readers=readers, rest_ms=rests(rest_ms)))

    assert found[0] < 0.15
    assert found[1] < 0.05


@pytest.mark.parametrize("readers", [2, 4])
@pytest.mark.parametrize("rest_ms", [3, 10, 40])
def test_a_pipe_serves_all_of_a_call_one_at_a_time(readers, rest_ms):
    # GIVEN 100 kB at 30 MB/s, in a queue and shared
    queue = calls_of(Queue(0, 0, 1 / 30_000), readers=readers, rest_ms=rests(rest_ms))
    shared = shared_pipe(readers=readers, rest_ms=rests(rest_ms), alone_ms=3.33)

    for calls in (queue, shared):
        assert measured(calls)[1] > 0.8


@pytest.mark.parametrize(("wait_ms", "truth"), [(3.33, 0.5), (10, 0.25)])
def test_a_pipe_behind_a_wait_is_told_before_it_is_full(wait_ms, truth):
    found = measured(calls_of(Queue(wait_ms, 3.33), readers=2, rest_ms=rests(10), count=4000))

    share, low, high = found
    assert share == pytest.approx(truth, abs=0.12)
    assert low < share < high < 0.8


def test_opens_that_memory_answers_say_nothing_of_reads_that_take_turns():
    # GIVEN reads of a disk, one at a time, and as many opens of 0.1 ms, which take as long beside any of them
    reads = calls_of(Queue(0, 8), readers=4, rest_ms=rests(40), count=400)
    start, end, _, _ = (np.array(column) for column in zip(*reads, strict=True))
    usual = np.repeat([np.median(end - start) / 1e3, 1e-4], len(start))
    begins, ends = (np.concatenate(both) for both in ((start, start - 0.2), (end, start - 0.1)))
    order = np.argsort(begins, kind="stable")
    start_ns, end_ns = ((1e6 * values[order]).astype(np.int64) for values in (begins, ends))

    found = serialized_share([(start_ns, end_ns, usual[order])])

    assert found[1] > 0.8


def test_a_hundred_calls_that_are_alike_tell():
    rest = rests(20)

    # THEN as well as more of them do, and fewer tell nothing
    assert measured(calls_of(Queue(0, 5), readers=4, rest_ms=rest, count=110))[1] > 0.8
    assert measured(calls_of(Delay(5), readers=4, rest_ms=rest, count=110))[2] < 0.5
    assert measured(calls_of(Queue(0, 5), readers=4, rest_ms=rest, count=90)) is None


def test_a_few_calls_that_take_most_of_the_time_tell_nothing():
    # GIVEN 300 calls of 0.1 ms, and 20 of a second
    starts = np.arange(320) * 5_000_000
    lasts = np.where(np.arange(320) % 16 == 0, 1_000_000_000, 100_000)

    assert serialized_share([(starts, starts + lasts, lasts / 1e9)]) is None


def test_calls_that_always_run_beside_as_many_tell_nothing():
    for calls in (
        calls_of(Queue(0, 4), readers=1, rest_ms=rests(2)),
        calls_of(Queue(0, 4), readers=4, rest_ms=lambda noise: 0.01),
        shared_pipe(readers=4, rest_ms=lambda noise: 0.01, alone_ms=3),
        calls_of(Queue(0, 4), readers=4, rest_ms=rests(2), count=100),
    ):
        assert measured(calls) is None


def test_storage_that_is_slow_for_a_while_is_not_full():
    # GIVEN storage of 5 ms that takes 50 in the second half
    quick = calls_of(Delay(5), readers=4, rest_ms=rests(5), count=2048)
    slow = calls_of(Delay(50), readers=4, rest_ms=rests(5), count=2048)
    later = quick[-1][1] + 100
    calls = quick + [(start + later, end + later, *rest) for start, end, *rest in slow]

    assert measured(calls)[0] < 0.2


def test_more_readers_give_as_much_as_mean_value_analysis_says():
    # THEN nothing is served one at a time: n calls take as long as one; all is: n times as long
    assert [call_time(0, n) for n in (1, 2, 16)] == [1, 1, 1]
    assert [call_time(1, n) for n in (1, 2, 16)] == [1, 2, 16]
    # and half: one server of 1/2 and a delay of 1/2, by hand: R(2) = 1/2 (1 + Q(1)), Q(1) = 1/2
    assert call_time(0.5, 2) == pytest.approx(0.5 + 0.5 * 1.5)
    # and never more than one each half
    assert 64 / call_time(0.5, 64) == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("seed", [3, 8, 12])
def test_times_that_no_depth_explains_tell_nothing(seed):
    # GIVEN two readers that pause, and calls that take long by chance, whatever is beside them
    chance = np.random.default_rng(seed)
    taken = (chance.lognormal(0, 1, 400) * 3e6).astype(np.int64)
    pauses = chance.exponential(2e6, 400).astype(np.int64)
    ends = [np.cumsum(taken[reader::2] + pauses[reader::2]) + reader * 1_000_000 for reader in (0, 1)]
    end = np.concatenate(ends)
    start = end - np.concatenate([taken[reader::2] for reader in (0, 1)])
    order = np.argsort(start)

    # THEN any share may be right: that is no measurement
    assert serialized_share([(start[order], end[order], np.full(400, 3e-3))]) is None
