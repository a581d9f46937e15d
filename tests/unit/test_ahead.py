"""A loop that reads ahead gets what it would have got, and the thread that reads ends with it."""

from __future__ import annotations

import threading

import pytest

from tfdarshan.ahead import map_ahead, read_ahead
from tfdarshan.errors import ConfigurationError

ROOM_S = 60.0


@pytest.fixture(autouse=True)
def no_thread_stays():
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(ROOM_S)
        assert not thread.is_alive()


@pytest.mark.parametrize("count", [0, 1, 2, 5, 100])
@pytest.mark.parametrize("depth", [1, 4])
def test_the_loop_gets_all_batches_in_order(count, depth):
    assert list(read_ahead(range(count), depth=depth)) == list(range(count))
    assert list(read_ahead((None for _ in range(count)), depth=depth)) == [None] * count


def test_batches_are_read_while_the_loop_computes():
    # GIVEN batches of which the third says that it was read
    third = threading.Event()

    def batches():
        yield 0
        yield 1
        third.set()
        yield 2

    # THEN it is read while the first is computed
    ahead = read_ahead(batches())
    assert next(ahead) == 0
    assert third.wait(ROOM_S)
    assert list(ahead) == [1, 2]


def test_no_more_than_the_depth_is_kept_ready():
    taken = []

    def batches():
        for number in range(100):
            taken.append(number)
            yield number

    ahead = read_ahead(batches(), depth=2)
    for number in range(5):
        assert next(ahead) == number
        # two are ready, and one more waits for room
        assert len(taken) <= number + 1 + 3


def test_an_error_comes_after_the_batches_before_it():
    def batches():
        yield 0
        yield 1
        raise OSError("the disk is gone")

    ahead = read_ahead(batches())
    assert [next(ahead), next(ahead)] == [0, 1]
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_loop_that_is_left_ends_the_thread(depth):
    """The fixture waits for it."""
    for batch in read_ahead(iter(int, 1), depth=depth):
        assert batch == 0
        break


def test_nothing_is_read_before_the_first_batch_is_asked_for():
    def batches():
        raise AssertionError("read")
        yield

    read_ahead(batches())


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_that_keeps_nothing_is_refused(depth):
    with pytest.raises(ConfigurationError, match="give depth=1 or more"):
        read_ahead([1], depth=depth)


@pytest.mark.parametrize("count", [0, 1, 7, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(count, threads):
    assert list(map_ahead(str, range(count), threads=threads)) == [str(number) for number in range(count)]


def test_as_many_calls_run_at_a_time_as_there_are_threads():
    # GIVEN calls that return only when three of them run
    together = threading.Barrier(3)

    def call(item):
        together.wait(ROOM_S)
        return item

    # THEN they do
    assert list(map_ahead(call, range(9), threads=3)) == list(range(9))


def test_calls_are_no_further_ahead_than_two_for_each_thread():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    results = map_ahead(str, items(), threads=3)
    assert not taken
    for number in range(5):
        assert next(results) == str(number)
        assert len(taken) == number + 6
    del results  # and its threads end


def test_what_a_call_raises_is_raised_where_its_result_would_be():
    results = map_ahead(lambda number: 1 // (2 - number), range(9), threads=2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_what_the_items_raise_comes_after_the_results_before_it():
    def items():
        yield from range(5)
        raise ValueError("no more items")

    results = map_ahead(str, items(), threads=4)
    assert [next(results) for _ in range(5)] == ["0", "1", "2", "3", "4"]
    with pytest.raises(ValueError, match="no more items"):
        next(results)


def test_results_are_the_same_if_there_can_be_no_thread(monkeypatch):
    # GIVEN a user who may have no more threads
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    results = map_ahead(lambda number: 6 // (2 - number), range(3), threads=3)

    # THEN
    assert [next(results), next(results)] == [3, 6]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_no_threads_are_refused():
    with pytest.raises(ConfigurationError, match="at least one thread"):
        map_ahead(str, [], threads=0)
