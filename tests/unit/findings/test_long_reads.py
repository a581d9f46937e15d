"""What a read takes beyond the longest wait of any storage is expected to be its bytes."""

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.read_split import LONGEST_WAIT_S, wait_of_a_read

KB = 1_000


def job(logdir, read_ms, size, *, memory_serves=False):
    """Gives 20 steps of one read each, all of one size; every second one is memory's."""
    calls = [
        (100 * n, 100 * n + (0.05 if memory_serves and n % 2 else read_ms), 1, "pread", n, size)
        for n in range(20)
    ]
    steps, paths = epochs_of_steps(20, 100, 95), [f"/data/{n}" for n in range(20)]
    return measure(training(logdir, calls, steps, paths=paths, sizes=[size] * 20))


def test_a_long_read_of_many_bytes_is_expected_to_move_them(tmp_path):
    low, expected, high = wait_of_a_read(job(tmp_path, 90.0, 1000 * KB))

    assert low == 0
    assert expected == pytest.approx(LONGEST_WAIT_S)
    assert high > 0.08


def test_what_no_storage_moves_so_slowly_waits_all_the_same(tmp_path):
    # GIVEN 10 kB in 90 ms
    low, expected, _ = wait_of_a_read(job(tmp_path, 90.0, 10 * KB))

    assert low == pytest.approx(0.089)
    assert expected == pytest.approx(low)


def test_a_short_wait_is_as_usual(tmp_path):
    assert wait_of_a_read(job(tmp_path, 20.0, 100 * KB))[1] == pytest.approx(0.020 - 0.1 / 400)


def test_of_reads_that_memory_served_none_is_long(tmp_path):
    # GIVEN as many reads of memory
    assert wait_of_a_read(job(tmp_path, 90.0, 1000 * KB, memory_serves=True))[1] <= 0.55 * LONGEST_WAIT_S
