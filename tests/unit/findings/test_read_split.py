"""What of a read waits, where nothing tells waiting from moving bytes."""

import pytest

from tests.closed_readers import Budget, Delay, calls_of, shared_pipe
from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_more_readers import rests
from tfdarshan.findings import small_files
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.read_split import wait_of_a_read

FILES = 400


def hardly_rests(noise):
    return 0.01


def small(logdir, calls, size=100_000, parts=1, part_ms=0.002):
    """Gives a session of steps that wait for files of one size, each read once, in parts.

    All parts but the first take as long as given.
    """
    made: list[tuple] = []
    for file, (start, end, reader, _) in enumerate(calls):
        made.append((start - 0.009, start - 0.001, reader + 1, "open", file, 0))
        made.append((start, end, reader + 1, "pread", file, size // parts, 0))
        for part in range(1, parts):
            at = end + part_ms * (part - 1)
            made.append((at, at + part_ms, reader + 1, "pread", file, size // parts, part * (size // parts)))
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(max(call[1] for call in calls) // 50))]
    paths = [f"/data/{file}" for file in range(len(calls))]
    return measure(training(logdir, sorted(made), steps, paths=paths, sizes=[size] * len(paths)))


@pytest.mark.parametrize(
    ("calls", "certain"),
    [
        (shared_pipe(readers=4, alone_ms=5.0, rest_ms=hardly_rests, count=FILES), False),
        (calls_of(Delay(20.0), readers=4, rest_ms=hardly_rests, count=FILES), False),
        (calls_of(Delay(20.0), readers=1, rest_ms=hardly_rests, count=FILES), True),
    ],
    ids=["4 in a pipe of 20 MB/s", "4 that wait for 20 ms", "1 that waits for 20 ms"],
)
def test_reads_at_a_time_may_share_what_one_stream_gives(tmp_path, calls, certain):
    # GIVEN 100 kB in 20 ms each: 5 MB/s a reader, and 20 MB/s of four
    measures = small(tmp_path, calls)
    assert measures.contention is None or measures.contention.high > 0.5

    assert (wait_of_a_read(measures)[0] > 0) is certain
    gain = small_files.find(measures).gain
    assert bool(gain.doubts) is not certain
    assert (gain.speedup_range[0] > 1.2) is certain


def test_what_small_reads_take_in_a_queue_is_expected_to_be_waiting(tmp_path):
    # GIVEN one arm that serves 16 readers one at a time, and so each in more than storage is known to wait
    measures = small(
        tmp_path, shared_pipe(readers=16, alone_ms=2.5, rest_ms=hardly_rests, count=FILES), 4_000
    )

    low, expected, _ = wait_of_a_read(measures)

    # THEN 4 kB take no more than 0.4 ms of it: a stream gives 10 MB/s or more
    assert 1e3 * expected == pytest.approx(40, rel=0.05)
    assert low < 0.9 * expected


@pytest.mark.parametrize(
    ("size", "calls_per_s", "waits"),
    [(300_000, 500, 0.0), (200_000, 120, 0.0), (100_000, 120, 0.5), (8_000, 500, 0.96)],
    ids=["300 kB at 150 MB/s", "200 kB at 24 MB/s", "100 kB at 12 MB/s", "8 kB at 4 MB/s"],
)
def test_what_a_limit_of_reads_of_one_size_counts_is_what_such_limits_are_sold_with(
    tmp_path, size, calls_per_s, waits
):
    # GIVEN a limit that holds calls back, of which nothing tells whether it counts bytes or calls
    calls = calls_of(
        Budget(calls_per_s // 10), readers=1, rest_ms=rests(0.2), count=1_500, size=lambda noise: size
    )
    measures = small(tmp_path, calls, size)
    assert measures.allowance is not None
    assert measures.allowance.counts is None

    _, expected, high = wait_of_a_read(measures)

    # THEN large reads are expected to move bytes, and to wait at most, whatever the rate
    reads = measures.group("read")
    mean_s = reads.thread_s / reads.calls
    assert expected == pytest.approx(waits * mean_s, abs=0.05 * mean_s)
    assert high >= 0.65 * mean_s


@pytest.mark.parametrize(("part_ms", "waits"), [(0.002, 1 - 128 / 200), (0.5, 1 - 64 / 200)])
def test_small_reads_in_order_ask_storage_for_what_is_read_ahead(tmp_path, part_ms, waits):
    # GIVEN a limit that holds calls back, and files of 128 kB in two parts: memory serves the second, or
    # storage each of them
    calls = calls_of(Budget(12), readers=1, rest_ms=rests(1.8), count=600, size=lambda noise: 128_000)
    measures = small(tmp_path, calls, 128_000, parts=2, part_ms=part_ms)
    assert measures.allowance is not None
    assert measures.allowance.counts is None

    _, expected, _ = wait_of_a_read(measures)

    # THEN what such limits are sold with goes by the size of what storage was asked for
    reads = measures.group("read")
    assert expected * reads.calls == pytest.approx(waits * reads.thread_s, abs=0.05 * reads.thread_s)


def test_readers_that_a_limit_holds_back_do_not_wait_for_each_other_as_well(tmp_path):
    # GIVEN 8 readers that a limit holds back, and that seldom are all in calls
    calls = calls_of(Budget(12), readers=8, rest_ms=rests(20.0), count=600, size=lambda noise: 100_000)
    measures = small(tmp_path, calls, 100_000)
    assert measures.allowance is not None
    assert measures.model.idle_s > 0

    # THEN their calls and waits for each other are no more than a batch takes
    calls_s = measures.pipeline_s(measures.input_calls.beside_s)
    assert calls_s + measures.idle_s <= max(calls_s, measures.model.pipeline_s) + 1e-9
    assert measures.idle_s < measures.model.idle_s
