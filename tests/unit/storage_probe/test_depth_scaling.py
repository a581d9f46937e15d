"""The share of a call that storage serves one at a time, by what 1 to 16 readers of a known storage get."""

import pytest

from tests.closed_readers import Delay, Queue, calls_of, shared_pipe
from tests.unit.storage_probe.made_up_cells import cells_of
from tfdarshan.storage_probe.depth_scaling import scaling_of
from tfdarshan.storage_probe.prober import DEPTHS


def at_once(noise):
    return 0.0


def of(storage):
    return lambda readers: calls_of(storage(), readers=readers, rest_ms=at_once, count=DEPTHS[readers])


@pytest.mark.parametrize(
    ("storage", "share", "times"),
    [
        (lambda: Delay(5), 0.0, 16),
        (lambda: Queue(0, 1000 / 240), 1.0, 1),
        (lambda: Queue(0, 0, 1 / 30_000), 1.0, 1),
        (lambda: Queue(4, 1), 0.2, 5),
    ],
    ids=["5 ms a call", "240 calls a second", "30 MB/s", "5 ms of which 1 is served one at a time"],
)
def test_the_share_is_that_of_the_storage(storage, share, times):
    # GIVEN what 1 to 16 readers get, who begin the next call when the last has ended
    found = scaling_of(cells_of(of(storage)))

    # THEN
    assert found.share == pytest.approx(share, abs=0.1)
    assert found.low - 0.02 <= share <= found.high
    assert found.high - found.low < 0.35
    assert found.times == pytest.approx(times, rel=0.35)
    assert found.most_readers == 16


def test_a_pipe_that_all_share_is_full():
    def of_pipe(readers):
        return shared_pipe(readers=readers, rest_ms=at_once, alone_ms=4, count=DEPTHS[readers])

    found = scaling_of(cells_of(of_pipe))

    assert found.low > 0.7


def test_one_round_tells_less_than_four():
    widths = [
        found.high - found.low
        for rounds in (1, 4)
        for found in [scaling_of(cells_of(of(lambda: Queue(4, 1)), rounds))]
    ]

    assert widths[0] > 1.5 * widths[1]


def test_depths_at_which_the_probe_itself_is_the_limit_are_left_out():
    # GIVEN storage that answers in 0.1 ms, and a probe that takes 50 us a call by itself
    cells = cells_of(of(lambda: Delay(0.1)), own_s=50e-6)

    found = scaling_of(cells)

    # THEN what one reader gets is known, and what more get is not
    assert [level.readers for level in found.levels] == [1]
    assert (found.share, found.low, found.high) == (None, 0.0, 1.0)


class OneIsSlow(Delay):
    """Storage on which each twelfth call, which is that of one file, takes 100 ms more."""

    def __init__(self, call_ms):
        super().__init__(call_ms)
        self.calls = 0

    def end(self, at_ms, size, noise):
        self.calls += 1
        return super().end(at_ms, size, noise) + (100 if self.calls % 12 == 8 else 0)


def test_a_slow_file_is_no_full_storage():
    # GIVEN cells of 5 ms a call that each last as long as their reads of one slow file
    cells = cells_of(of(lambda: OneIsSlow(5)))

    found = scaling_of(cells, ["/data/7"])

    # THEN without it a call takes what it takes of the others, and the storage waits
    assert found.alone_s < 0.01 < scaling_of(cells).alone_s
    assert found.high < 0.3


def test_without_a_single_reader_there_is_nothing_to_compare_with():
    cells = [cell for cell in cells_of(of(lambda: Delay(5))) if cell.readers > 1]

    assert scaling_of(cells) is None
