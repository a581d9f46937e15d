"""What is in flight is what a storage answers best: simulated storage, simulated time."""

from __future__ import annotations

import pytest

from tests.unit.lmdb_reading.simulated_storage import (
    GIB,
    MOST,
    READ_BYTES,
    late,
    memory,
    narrow,
    read_all,
    seeking,
    shared_with,
)
from tfdarshan.lmdb.depth_search import DepthSearch


@pytest.mark.parametrize(
    ("storage", "scattered", "depths"),
    [
        (late(), False, {16}),
        (late(), True, {16}),
        (late(1e-4, 300e6), False, {1}),
        (late(3e-3, 200e6), False, {4, 8}),
        (narrow(), False, {1}),
        (narrow(), True, {1}),
        (seeking(0), False, {1}),
        (seeking(0.44), False, {1}),
        (seeking(0.44), True, {16}),
        (memory(), False, {1}),
    ],
    ids=[
        "late", "late, scattered", "late, but narrow", "late and narrow", "narrow", "narrow, scattered",
        "no elevator", "elevator, in order", "elevator, scattered", "cached",
    ],
)  # fmt: skip
@pytest.mark.parametrize("noise", [0, 0.1])
def test_it_finds_what_is_best(storage, scattered, depths, noise):
    search = DepthSearch(MOST)
    for seed in range(5):
        read_all(search, storage, GIB, scattered=scattered, noise=noise, seed=seed)
        assert search.depth in depths


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize(
    "storage", [late(), late(3e-3, 200e6), narrow(), seeking(0), seeking(0.44)],
    ids=["late", "late and narrow", "narrow", "no elevator", "elevator"],
)  # fmt: skip
def test_with_all_it_costs_it_is_no_slower_than_one_in_flight(storage, scattered):
    # GIVEN as much as a small data set has: what searching costs is part of it
    total = 512 << 20
    alone_s = read_all(DepthSearch(1), storage, total, scattered=scattered)
    # WHEN / THEN
    assert read_all(DepthSearch(MOST), storage, total, scattered=scattered) < alone_s / 0.9


def test_a_second_read_that_harms_is_known_to():
    search = DepthSearch(MOST)
    read_all(search, seeking(0), READ_BYTES)
    assert search.harmed
    read_all(search, late(), 40 * GIB)
    assert not search.harmed


def test_no_more_in_flight_than_is_allowed():
    for most in (1, 2, 3, 12):
        search = DepthSearch(most)
        read_all(search, late(), GIB)
        assert search.depth == most
        assert max(search.speeds, default=1) <= most


@pytest.mark.parametrize(
    ("before", "after", "depth"),
    [(seeking(0), late(), 16), (late(), seeking(0), 1), (late(), narrow(), 1), (narrow(30e6), late(), 16)],
    ids=["a disk, then late", "late, then a disk", "late, then narrow", "narrow, then late"],
)
def test_it_notices_another_storage(before, after, depth):
    search = DepthSearch(MOST)
    read_all(search, before, 3 * GIB)
    assert search.depth != depth
    read_all(search, after, 3 * GIB)
    assert search.depth == depth


def test_what_does_not_change_is_looked_at_less_and_less():
    search = DepthSearch(MOST)
    read_all(search, narrow(), 2 * GIB)
    first = search.looks
    read_all(search, narrow(), 8 * GIB)
    assert 0 < search.looks - first <= first


def test_a_stall_of_the_machine_does_not_mislead_it():
    # GIVEN a disk that seeks, and a machine that stands still while the first part is read
    search, stalls = DepthSearch(MOST), iter([0.3])
    storage = seeking(0)
    # WHEN
    read_all(search, lambda *asked: storage(*asked) + next(stalls, 0), READ_BYTES)
    # THEN
    assert search.depth == 1
    assert search.harmed


def test_others_that_share_the_storage_cost_it_little():
    # GIVEN a disk without elevator, on which seven others read: whoever asks more has the larger share
    storage = shared_with(7, seeking(0))
    search = DepthSearch(MOST)
    # WHEN / THEN it is not slower than with one in flight, and no noise drives it to and fro
    alone_s = read_all(DepthSearch(1), storage, GIB)
    assert read_all(search, storage, GIB, noise=0.2) < alone_s / 0.9
