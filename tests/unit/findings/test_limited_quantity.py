"""What a limit counts, bytes or calls, shows where the sizes of files differ: and what shards give there."""

import itertools
import random

import numpy as np
import pytest

from tests.closed_readers import Budget, calls_of
from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_more_readers import rests
from tfdarshan.analysis.limited_quantity import limited_quantity
from tfdarshan.findings import full_storage, random_access, small_files, small_reads
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.read_split import bytes_are_told, seconds_per_byte, wait_of_a_read
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.units import human_bytes

FILES, MEAN = 600, 100_000


def varied(noise):
    return round(MEAN * noise.uniform(0.25, 1.75))


def alike(noise):
    return MEAN


def limited(logdir, storage, size=varied, *, readers=1, reads=1, mean=MEAN):
    """Gives a session of steps that wait for files of some size, each read once, in so many reads."""
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


def told(measures, counted, others):
    """Words what shows what a limit counts."""
    found = measures.allowance.counts
    return (
        f"in {found.intervals} intervals of the limit {counted} vary by {100 * found.varies:.1f} %, "
        f"{others} by {100 * found.other_varies:.1f} %"
    )


@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("is_bytes", [True, False], ids=["bytes", "calls"])
def test_a_session_of_files_of_several_sizes_tells_what_a_limit_counts(tmp_path, is_bytes, readers):
    # GIVEN 2 MB in each 100 ms, or 20 calls
    storage = Budget(20, bytes=20 * MEAN) if is_bytes else Budget(20)
    measures = limited(tmp_path, storage, readers=readers)

    found = measures.allowance
    assert found.counts.is_bytes is is_bytes
    assert found.counts.varies < 0.7 * found.counts.other_varies
    assert found.bytes_per_s == pytest.approx(200 * MEAN, rel=0.06)
    assert found.calls_per_s == pytest.approx(200, rel=0.06)
    assert bytes_are_told(measures)


@pytest.mark.parametrize("storage", [Budget(20), Budget(20, bytes=20 * MEAN)], ids=["calls", "bytes"])
def test_files_of_one_size_do_not_tell(tmp_path, storage):
    measures = limited(tmp_path, storage, alike)

    assert measures.allowance is not None
    assert measures.allowance.counts is None
    assert not bytes_are_told(measures)


def test_shards_are_promised_for_certain_to_a_limit_of_calls_and_not_to_one_of_bytes(tmp_path):
    # GIVEN the same files under a limit of calls, and of bytes
    by_calls = limited(tmp_path / "calls", Budget(20))
    by_bytes = limited(tmp_path / "bytes", Budget(20, bytes=20 * MEAN))

    gain = small_files.find(by_calls).gain
    assert gain.speedup_range[0] > 1.5
    assert not gain.doubts
    assert small_files.find(by_bytes).gain.speedup < 1.1
    assert small_files.find(by_bytes).gain.speedup_range[1] < 1.55
    # ... in whose time a limit of bytes has what it allows, and one of calls what a read waits
    waited_s, taken_s = wait_of_a_read(by_bytes), by_bytes.group("read").thread_s / FILES
    assert waited_s[1] < 0.1 * taken_s < 0.6 * taken_s < wait_of_a_read(by_calls)[0]

    # THEN each says so
    said = full_storage.find(by_calls)
    assert said.what.endswith(
        f". It counts calls, not bytes ({told(by_calls, 'calls', 'bytes')}), so fewer and larger ones give "
        "more. More readers give nothing."
    )
    assert said.cure.what == (
        "Read it in fewer calls: put small files into shards, stage the files, keep them in memory."
    )
    assert gain.assumptions[1].support == told(by_calls, "calls", "bytes")
    said = full_storage.find(by_bytes)
    assert said.what.endswith(
        f". It counts bytes, not calls ({told(by_bytes, 'bytes', 'calls')}), so shards give nothing. "
        "More readers give nothing."
    )
    assert "shard" not in said.cure.what
    rates = by_bytes.allowance.bytes_per_s, by_bytes.allowance.calls_per_s
    assert said.title == f"storage gives {human_bytes(rates[0])}/s however many reads run at a time"
    assert f"It gives {human_bytes(rates[0])}/s in {rates[1]:,.0f} reads a second: " in said.what


def test_without_what_tells_it_both_get_the_same_promise_of_which_nothing_is_certain(tmp_path):
    for name, storage in (("calls", Budget(20)), ("bytes", Budget(20, bytes=20 * MEAN))):
        measures = limited(tmp_path / name, storage, alike)
        gain = small_files.find(measures).gain
        assert gain.speedup_range[0] == pytest.approx(1.0)
        assert gain.speedup_range[1] > 2
        assert [entry.refuted_by for entry in gain.doubts] == ["larger files take as many times longer"]
        said = full_storage.find(measures)
        assert "It counts" not in said.what
        assert "where it is calls that it limits" in said.cure.what


def test_large_reads_gain_nothing_from_a_limit_of_bytes(tmp_path):
    # GIVEN files that are read in six parts each, of 10 kB on average
    by_calls = limited(tmp_path / "calls", Budget(20), reads=6, mean=10_000)
    by_bytes = limited(tmp_path / "bytes", Budget(20, bytes=20 * MEAN), reads=6, mean=10_000)
    assert by_bytes.allowance.counts.is_bytes

    assert 0.6 < seconds_per_byte(by_bytes)[1] * by_bytes.allowance.bytes_per_s < 1
    assert small_reads.find(by_bytes) is None
    gain = small_reads.find(by_calls).gain
    assert gain.speedup_range[0] > 1.5
    assert not gain.doubts


@pytest.mark.parametrize(("mean", "doubted"), [(50_000, True), (8_000, False)])
def test_reads_in_order_are_doubted_where_a_limit_may_be_of_bytes(tmp_path, mean, doubted):
    # GIVEN reads that jump about in a file, 200 a second, of 10 MB or of 1.6 MB together
    calls = calls_of(Budget(20), readers=1, rest_ms=rests(1), count=FILES)
    places = random.Random(3).sample(range(10 * FILES), FILES)
    made = [
        (start, end, 1, "pread", 0, mean, place * mean)
        for (start, end, *_), place in zip(calls, places, strict=True)
    ]
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(calls[-1][1] // 50))]
    measures = measure(training(tmp_path, made, steps, sizes=[FILES * mean]))
    assert measures.allowance is not None

    doubts = [entry.refuted_by for entry in random_access.find(measures).gain.doubts]
    assert doubts == (["reads in order are no quicker"] if doubted else [])


def test_quicker_storage_shortens_what_a_limit_counts(tmp_path):
    by_calls = limited(tmp_path / "calls", Budget(20))
    by_bytes = limited(tmp_path / "bytes", Budget(20, bytes=20 * MEAN))

    # WHEN asked for ten times the bandwidth
    gained = [what_if(one, StorageChange(bandwidth=10.0)).gain.speedup for one in (by_calls, by_bytes)]

    assert gained[0] < 1.3 < 3 < gained[1]


def test_a_limit_of_calls_is_known_by_how_few_bytes_it_gives(tmp_path):
    # GIVEN files of one size, 200 a second: 20 MB, or 1.6 MB, which any storage gives
    large = limited(tmp_path / "large", Budget(20), alike)
    small = limited(tmp_path / "small", Budget(20), alike, mean=8_000)

    assert large.allowance.counts is None is small.allowance.counts
    assert wait_of_a_read(large)[0] == 0 < wait_of_a_read(small)[0]
    assert small_files.find(large).gain.doubts
    gain = small_files.find(small).gain
    assert not gain.doubts
    assert gain.speedup_range[0] > 1.5


def test_opens_that_a_limit_of_bytes_holds_are_not_what_shards_spare(tmp_path):
    # GIVEN opens that read 40 kB each of what a limit of bytes counts, before files of several sizes
    sizes = itertools.cycle([lambda _: 40_000, varied])
    calls = calls_of(
        Budget(20, bytes=20 * MEAN),
        readers=1,
        rest_ms=rests(1),
        count=2 * FILES,
        size=lambda noise: next(sizes)(noise),
    )
    made = [
        (start, end, 1, "pread" if place % 2 else "open", place // 2, length * (place % 2), 0)
        for place, (start, end, _, length) in enumerate(calls)
    ]
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(calls[-1][1] // 50))]
    paths = [f"/data/{file % 7}/{file}" for file in range(FILES)]
    files = [length for _, _, _, length in calls[1::2]]
    measures = measure(training(tmp_path, made, steps, paths=paths, sizes=files))
    assert measures.allowance.counts.is_bytes
    assert measures.allowance.reads_share < 0.8

    assert small_files.find(measures).gain.speedup < 1.15


def intervals(noise, *, of_bytes, sizes, count=20, calls=20):
    """Gives how long intervals lasted, and bytes and calls in each."""
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
        wrong += found is not None and found.is_bytes is not of_bytes
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
    assert (None if found is None else found.is_bytes) == (is_bytes if told else None)


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
