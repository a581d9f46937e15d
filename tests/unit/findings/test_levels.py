"""Queue depths and readers, on calls whose answers can be counted."""

import numpy as np
import pytest

from tests.unit.findings.levels_at_once import depth_levels
from tfdarshan.analysis.calls.reader_count import count_readers

S = 10**9


def test_each_depth_has_its_time_and_bytes():
    # GIVEN a read of 40 B from 0 to 4 s, one of 10 B from 1 to 2, one of 30 B from 6 to 9
    start, end, length = (np.array(values) for values in ([0, S, 6 * S], [4 * S, 2 * S, 9 * S], [40, 10, 30]))

    table = depth_levels(start, end, length)

    # THEN one runs for 6 s, two for 1, none for 2
    assert table["seconds"].tolist() == pytest.approx([2, 6, 1])
    assert table["bytes"].tolist() == pytest.approx([0, 60, 20])


def test_no_calls_have_no_depth():
    nothing = np.zeros(0, np.int64)

    assert depth_levels(nothing, nothing, nothing)["seconds"].tolist() == [0]


@pytest.mark.parametrize(("readers", "share"), [(4, 1.0), (8, 0.25), (16, 0.5)])
def test_readers_are_counted_by_their_queue_depth(readers, share):
    # GIVEN readers that are each busy a share of the time, on a pool of 64 threads
    rng = np.random.default_rng(7)
    slots = 20_000
    busy = rng.random((slots, readers)) < share
    place, _ = np.nonzero(busy)
    start = place * 1_000_000
    levels = depth_levels(start, start + 1_000_000, np.ones(len(start)))

    # WHEN
    found = count_readers(levels, np.full(64, 1000), slots * 1e-3)

    # THEN
    assert found.readers == pytest.approx(readers, rel=0.1)
    assert found.threads == pytest.approx(64)
    assert found.busy_share == pytest.approx(share, rel=0.12)


def test_a_single_thread_is_one_reader():
    start = np.arange(100) * S
    levels = depth_levels(start, start + S // 10, np.ones(100))

    assert count_readers(levels, np.array([5 * S, 0]), 100.0).readers == 1
