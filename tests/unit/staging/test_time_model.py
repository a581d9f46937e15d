import numpy as np
import pytest

from tfdarshan.analysis.storage.time_model import fit_time_model


def test_fit_finds_the_line_that_made_the_times():
    # GIVEN 8 ms a file and 163 MB/s, to the microsecond
    size = np.linspace(10_000, 3_000_000, 500)

    # WHEN
    model = fit_time_model(size, 8e-3 + size / 163e6)

    # THEN
    assert model.base_s == pytest.approx(8e-3, rel=1e-6)
    assert 1 / model.s_per_byte == pytest.approx(163e6, rel=1e-6)
    assert (model.r2, model.note) == (pytest.approx(1.0), "")


def test_fit_is_not_turned_by_files_that_hung_and_keeps_their_time():
    # GIVEN one file in fifty that took 2 s more, the largest ones among them
    size = np.linspace(10_000, 3_000_000, 500)
    seconds = 8e-3 + size / 163e6
    seconds[::50] += 0.2
    seconds[-1] += 2

    # WHEN
    model = fit_time_model(size, seconds)

    # THEN the line's shape is the other files', its sum is everybody's
    assert model.base_s / model.s_per_byte == pytest.approx(8e-3 * 163e6, rel=0.05)
    assert model.seconds(size).sum() == pytest.approx(seconds.sum())


def test_fit_is_not_turned_by_large_files_that_all_hung():
    # GIVEN the largest twentieth of the files, each 0.2 s late: a trimmed mean does not help there
    size = np.linspace(10_000, 3_000_000, 500)
    seconds = 8e-3 + size / 163e6
    seconds[-25:] += 0.2

    model = fit_time_model(size, seconds)

    assert model.base_s / model.s_per_byte == pytest.approx(8e-3 * 163e6, rel=0.15)


def test_fit_of_a_bandwidth_cap_says_that_only_bytes_cost():
    # GIVEN a tier on which four threads queue for one pipe
    random = np.random.default_rng(0)
    size = random.uniform(1e4, 1e6, 400)

    # WHEN
    model = fit_time_model(size, np.maximum(size / 40e6 - 1e-3, 1e-4))

    # THEN
    assert model.base_s == 0
    assert "only bytes cost time" in model.note


def test_fit_says_when_size_explains_nothing():
    random = np.random.default_rng(0)
    size = random.uniform(1e4, 1e6, 400)

    model = fit_time_model(size, random.exponential(1e-2, 400) + size * 1e-12)

    assert "a poor fit" in model.note or "does not grow with size" in model.note


def test_fit_of_equal_sizes_gives_their_mean_and_says_so():
    model = fit_time_model(np.full(50, 1e6), np.full(50, 0.02))

    assert model.seconds(1e6) == pytest.approx(0.02)
    assert "one size" in model.note


def test_fit_without_files_gives_no_time():
    assert fit_time_model(np.zeros(0), np.zeros(0)).seconds(1e6) == 0
