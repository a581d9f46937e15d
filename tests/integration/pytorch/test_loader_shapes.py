"""Loaders of shapes that are not those of most jobs: how they are known, and what their steps are."""

import time

import pytest

import tfdarshan
from tfdarshan.frameworks.all_frameworks import words_of

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
COMPUTE_S = 0.01


@pytest.fixture
def data():
    return pytest.importorskip("torch.utils.data")


def test_a_data_set_that_gives_whole_batches_is_typed_as_such(data, tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in data.DataLoader(list(range(6)), batch_size=None):
            time.sleep(COMPUTE_S)

    # THEN
    fix = words_of(session.meta[0]).more_readers(2)
    assert fix.instead_of == "loader = DataLoader(dataset, batch_size=None)"


def test_a_loader_within_another_ones_data_set_cuts_no_step_short(data, tmp_path):
    # GIVEN a data set that goes over a loader of its own, twice
    class Outer(data.IterableDataset):  # type: ignore[name-defined]
        def __iter__(self):
            for _ in range(2):
                yield from data.DataLoader(list(range(4)), batch_size=None)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in data.DataLoader(Outer(), batch_size=None):
            time.sleep(COMPUTE_S)

    # THEN
    steps = session.steps
    assert len(steps) == 8
    assert (steps["end_ns"] - steps["start_ns"] >= COMPUTE_S * 1e9).all()
    assert len(session.meta[0]["loaders"]["found"]) == 1
