"""Whether storage paces reads, of a reader whose work between them varies."""

import numpy as np
import pytest

from tfdarshan.analysis.storage.pacing import is_paced

RATE, READ_BYTES, QUICK_S = 40e6, 50_000, 1e-4


def reader(taken_s, works_s):
    """Return starts and ends of reads of one reader, which works so long before each.

    Args:
        taken_s: What a read takes, by its number, when it starts and when the one before ended.
        works_s: How long the reader works before each read.
    """
    start_s, end_s = np.zeros(len(works_s)), np.zeros(len(works_s))
    at = 0.0
    for number, works in enumerate(works_s):
        start_s[number] = at + works
        at = end_s[number] = start_s[number] + taken_s(number, start_s[number], at)
    return start_s, end_s


def paced(taken_s, *, reads=400, works_s=(2e-4, 6e-4), chosen=True, length=READ_BYTES):
    low_s, high_s = works_s
    start_s, end_s = reader(taken_s, np.random.default_rng(3).uniform(low_s, high_s, reads))
    return is_paced(start_s, end_s, np.full(reads, length), np.full(reads, chosen))


def by_bytes(size):
    """Storage that lets a read end once its bytes have come together since the one before ended."""
    return lambda _, start_s, before_s: max(QUICK_S, before_s + size / RATE - start_s)


def test_a_limit_that_refills_while_the_reader_works_is_told():
    assert paced(by_bytes(READ_BYTES)) is True


def test_so_is_one_whose_first_reads_pass_at_once():
    # GIVEN 100 reads that the limit lends
    limited = by_bytes(READ_BYTES)

    def burst(number, start_s, before_s):
        return QUICK_S if number < 100 else limited(number, start_s, before_s)

    assert paced(burst) is True


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
def test_a_read_that_waits_for_storage_takes_as_long_whatever_was_before(noise):
    random = np.random.default_rng(4)

    assert paced(lambda *_: 1e-3 * (1 + noise * random.standard_normal())) is False


def test_reads_of_other_sizes_are_compared_at_equal_sizes():
    # GIVEN reads that take as long as their bytes, and a reader that works longer before small ones
    random = np.random.default_rng(5)
    size = random.integers(10_000, 90_000, 400)
    works_s = 8e-4 * (1 - size / 100_000) + random.uniform(0, 2e-4, 400)
    noise_s = random.uniform(0, 1e-5, 400)
    start_s, end_s = reader(lambda number, *_: 1e-3 + size[number] / RATE + noise_s[number], works_s)

    assert is_paced(start_s, end_s, size, np.full(400, True)) is False


@pytest.mark.parametrize(
    "what",
    [
        {"reads": 20},
        {"works_s": (4e-4, 4e-4)},
        {"chosen": False},
    ],
    ids=["few reads", "as much work before each", "read ahead"],
)
def test_what_tells_neither_is_not_known(what):
    assert paced(by_bytes(READ_BYTES), **what) is None


def test_nor_are_reads_beside_each_other():
    # GIVEN reads each of which begins before the one before it ended
    start_s = np.arange(200) * 1e-3

    assert is_paced(start_s, start_s + 2e-3, np.full(200, READ_BYTES), np.full(200, True)) is None
