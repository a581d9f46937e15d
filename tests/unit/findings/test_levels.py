"""Queue depths and readers, on calls whose answers can be counted."""

import numpy as np
import pytest

from tfdarshan.analysis import depth_levels as module
from tfdarshan.analysis.depth_levels import depth_levels
from tfdarshan.analysis.reader_count import count_readers

S = 10**9


def test_each_depth_has_its_time_and_bytes():
    # GIVEN a read of 40 B from 0 to 4 s, one of 10 B from 1 to 2, one of 30 B from 6 to 9
    start, end, length = (np.array(values) for values in ([0, S, 6 * S], [4 * S, 2 * S, 9 * S], [40, 10, 30]))

    table = depth_levels(start, end, length)

    # THEN one runs for 6 s, two for 1, none for 2
    assert table["seconds"].tolist() == pytest.approx([2, 6, 1])
    assert table["bytes"].tolist() == pytest.approx([0, 60, 20])
    assert table["bytes_per_s"].tolist() == pytest.approx([0, 10, 20])


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_calls_taken_block_by_block_give_the_same(monkeypatch, block):
    # GIVEN 500 calls that overlap at random
    rng = np.random.default_rng(3)
    start = np.sort(rng.integers(0, 10_000, 500))
    end, length = start + rng.integers(0, 200, 500), rng.integers(1, 1000, 500)
    whole = depth_levels(start, end, length)

    monkeypatch.setattr(module, "BLOCK", block)
    parts = depth_levels(start, end, length)

    np.testing.assert_allclose(parts.to_numpy(), whole.to_numpy(), rtol=1e-6, atol=1e-3)
    assert whole["seconds"].sum() == pytest.approx((end.max() - start[0]) / 1e9)
    moved = length[end > start].sum()
    assert whole["bytes"].sum() == pytest.approx(moved)


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
