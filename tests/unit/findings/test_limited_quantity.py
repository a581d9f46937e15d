"""What a limit counts, bytes or calls, shows where the sizes of files differ: and what shards give there."""

import random

import numpy as np
import pytest

from tests.closed_readers import Budget, calls_of
from tests.unit.findings.found_limits import limit_of
from tests.unit.findings.made_up_jobs import rests
from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.calls.limited_quantity import limited_quantity
from tfdarshan.findings.measurement import measure

FILES, MEAN = 600, 100_000


def varied(noise):
    return round(MEAN * noise.uniform(0.25, 1.75))


def alike(noise):
    return MEAN


def limited(logdir, storage, size=varied, *, readers=1, reads=1, mean=MEAN):
    """Return a session of steps that wait for files of some size, each read once, in so many reads."""
    calls = calls_of(storage, readers=readers, rest_ms=rests(1), count=FILES, size=size)
    sizes = [0] * (FILES // reads)
    made: list[tuple] = []
    for place, (start, end, reader, length) in enumerate(calls):
        file, length = place // reads, length * mean // MEAN
        made.append((start, end, reader + 1, "pread", file, length, sizes[file]))
        sizes[file] += length
    for file in range(len(sizes)):
        start = calls[file * reads][0]
        made.append((start - 0.05, start - 0.01, calls[file * reads][2] + 1, "open", file, 0))
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(max(call[1] for call in calls) // 50))]
    paths = [f"/data/{file % 7}/{file}" for file in range(len(sizes))]
    return measure(training(logdir, sorted(made), steps, paths=paths, sizes=sizes))


@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("is_bytes", [True, False], ids=["bytes", "calls"])
def test_a_session_of_files_of_several_sizes_tells_what_a_limit_counts(tmp_path, is_bytes, readers):
    # GIVEN 2 MB in each 100 ms, or 20 calls
    storage = Budget(20, bytes=20 * MEAN) if is_bytes else Budget(20)
    measures = limited(tmp_path, storage, readers=readers)

    found = limit_of(measures)
    assert found.counts_bytes is is_bytes


def intervals(noise, *, of_bytes, sizes, count=20, calls=20):
    """Return how long intervals lasted, and bytes and calls in each."""
    moved, made = [], []
    for _ in range(count):
        given: list[int] = []
        while (sum(given) < calls * MEAN) if of_bytes else (len(given) < calls):
            given.append(sizes(noise))
        moved.append(sum(given))
        made.append(len(given))
    return np.full(count, 100.0), np.array(moved), np.array(made)


def test_the_test_errs_seldom():
    # GIVEN many limits of bytes, of calls, and of both at once, as chance has it
    wrong = silent = by_chance = 0
    for seed in range(200):
        noise = random.Random(seed)
        of_bytes = seed % 2 == 0
        found = limited_quantity(*intervals(noise, of_bytes=of_bytes, sizes=varied))
        silent += found is None
        wrong += found is not None and found is not of_bytes
        drawn = np.random.default_rng(seed)
        by_chance += limited_quantity(np.ones(20), *drawn.normal(1000, 100, (2, 20))) is not None

    assert wrong == 0
    assert silent < 10
    assert by_chance <= 6


def test_what_read_ahead_asks_for_is_neither_bytes_nor_calls_of_a_program():
    # GIVEN 12 requests an interval, each a file of 8 to 52 kB: read 8 kB at a time, then another set at once
    noise = np.random.default_rng(1)
    sizes = noise.integers(8_000, 52_000, (30, 12))
    calls = np.where(np.arange(30)[:, None] < 15, -(-sizes // 8192), 1).sum(axis=1)

    # THEN bytes vary less than the program's calls, and are not what is counted
    by_bytes, by_calls = (some.std() / some.mean() for some in (sizes.sum(axis=1), calls))
    assert by_bytes < 0.5 * by_calls
    assert limited_quantity(np.ones(30), sizes.sum(axis=1), calls) is None


@pytest.mark.parametrize("is_bytes", [True, False], ids=["bytes", "calls"])
@pytest.mark.parametrize(("varies", "told"), [(0.02, True), (0.12, False)])
def test_what_is_counted_varies_by_the_calls_at_an_intervals_ends_at_most(is_bytes, varies, told):
    # GIVEN 40 calls an interval, of which two are 5 %, and something that varies by three times as much
    noise = np.random.default_rng(2)
    steady, other = (1 + spread * noise.standard_normal(60) for spread in (varies, 3 * varies))
    moved, calls = (steady, other) if is_bytes else (other, steady)

    found = limited_quantity(np.ones(60), 4e6 * moved, 40 * calls)
    assert found is (is_bytes if told else None)


@pytest.mark.parametrize(
    "given",
    [
        (np.full(5, 1.0), np.array([9, 1, 7, 3, 5]), np.full(5, 5)),
        (np.full(20, 1.0), np.zeros(20), np.zeros(20)),
        (np.full(20, 1.0), np.full(20, 5), np.full(20, 5)),
    ],
    ids=["too few", "nothing read", "always the same"],
)
def test_intervals_that_say_nothing(given):
    assert limited_quantity(*given) is None
