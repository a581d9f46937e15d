"""What files usually take, of sessions in which some happened to be slow."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import file_use
from tfdarshan.staging.file_seconds import usual_seconds

COUNT = 200


def usual(use, seconds):
    return usual_seconds(use, np.arange(COUNT), np.ones(COUNT), seconds)


def test_a_file_that_was_slow_once_is_worth_little_more_than_others():
    # GIVEN 200 files of one size that take 10 ms, one of which took 1 s
    use = file_use(np.full(COUNT, 1_000_000), np.ones(COUNT))
    seconds = np.full(COUNT, 0.010)
    seconds[7] = 1.0

    found = usual(use, seconds)

    # THEN the sum stays, and two reads tell a ninth of it
    assert found.sum() == pytest.approx(seconds.sum())
    assert 1 < found[7] / found[0] < 15


def test_a_folder_that_is_slow_is_worth_what_it_takes():
    # GIVEN a folder of 50 files that take 100 ms each, among files that take 10 ms
    use = file_use(np.full(COUNT, 1_000_000), np.ones(COUNT))
    paths = [f"/{'slow' if number < 50 else 'data'}/{number}" for number in range(COUNT)]
    use = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    found = usual(use, np.repeat([0.100, 0.010], [50, 150]))

    assert found[0] / found[-1] == pytest.approx(10, rel=0.35)


def test_files_without_time_are_worth_nothing():
    assert len(usual_seconds(file_use([1], [1]), np.zeros(0, int), np.zeros(0), np.zeros(0))) == 0
