import threading

import pytest

from tfdarshan.durable.bandwidth_limit import LOOK_S, BandwidthLimit


class Clock:
    """Time that only sleeping moves."""

    def __init__(self):
        self.now_s = 1_000.0

    def __call__(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


@pytest.fixture
def clock():
    return Clock()


def test_all_bytes_have_their_time(clock):
    # GIVEN
    limit = BandwidthLimit(1_000_000, clock=clock, sleep=clock.sleep)

    # WHEN 10 MB pass
    for _ in range(100):
        limit.take(100_000)

    # THEN the last block, too, has had its time
    assert clock.now_s == pytest.approx(1_010)


def test_a_pause_is_not_saved_up(clock):
    # GIVEN a limit that nothing has passed for a minute
    limit = BandwidthLimit(100, clock=clock, sleep=clock.sleep)
    limit.take(50)
    clock.now_s = 2_000.0

    # WHEN
    limit.take(50)

    # THEN
    assert clock.now_s == pytest.approx(2_000.5)


def test_threads_share_the_limit():
    # GIVEN another thread that takes bytes while this one looks at the clock, which first reads 0 for each
    others: list[threading.Thread] = []
    seen = set()

    def clock():
        if not others:
            others.append(threading.Thread(target=limit.take, args=(100,)))
            others[0].start()
            others[0].join(0.1)
        is_first = threading.current_thread() not in seen
        seen.add(threading.current_thread())
        return 0.0 if is_first else 10.0

    limit = BandwidthLimit(100, clock=clock, sleep=pytest.fail)

    # WHEN
    limit.take(100)
    others[0].join()

    # THEN neither's bytes were forgotten: both together take 2 s
    assert limit._free_at_s == pytest.approx(2)


def test_a_wait_can_be_ended(clock):
    # GIVEN bytes that have to wait for 1,000 s, and somebody who ends it after 5
    limit = BandwidthLimit(1, clock=clock, sleep=clock.sleep)

    def check():
        if clock.now_s >= 1_005:
            raise KeyboardInterrupt

    # WHEN
    with pytest.raises(KeyboardInterrupt):
        limit.take(1_000, check=check)

    # THEN
    assert clock.now_s == pytest.approx(1_005, abs=2 * LOOK_S)


def test_without_a_limit_nothing_waits(clock):
    # GIVEN
    limit, looked = BandwidthLimit(None, clock=clock, sleep=pytest.fail), []

    # WHEN
    limit.take(10**12, check=lambda: looked.append(1))

    # THEN one still looks whether it is to end
    assert looked == [1]
