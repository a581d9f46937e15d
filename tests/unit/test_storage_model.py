"""The storage models' arithmetic, and the curves of the papers in it."""

from __future__ import annotations

import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.storage_model import HDD, LUSTRE, STORAGE_MODELS, StorageModel, find_model


def test_a_queue_and_latencies_overlap_once_there_are_threads() -> None:
    model = StorageModel(name="m", about="", open_s=0.001, read_s=0.002, read_bandwidth=1e6, concurrency=4)
    # 10 files of 1 kB: 10 ms on the wire, 30 ms of latency
    assert model.files_time_s([1000] * 10, 1) == pytest.approx(0.040)
    assert model.files_time_s([1000] * 10, 2) == pytest.approx(0.020)
    assert model.files_time_s([1000] * 10, 4) == pytest.approx(0.010)
    assert model.files_time_s([1000] * 10, 100) == pytest.approx(0.010)


def test_a_file_costs_what_read_file_asks_of_it() -> None:
    # GIVEN a device that answers nothing on this side
    model = StorageModel(name="m", about="", open_s=0.001, read_s=0.002, empty_read_s=0.003, stat_s=0.004)
    # THEN a stat, an open, a read and an empty one
    assert model.files_time_s([1000] * 10, 1) == pytest.approx(0.100)


def test_the_curves_over_threads_are_those_they_were_fitted_to() -> None:
    sizes = [112_000] * 100
    for model, speedup in ((HDD, 2.3), (LUSTRE, 7.8)):
        gain = model.files_time_s(sizes, 1) / model.files_time_s(sizes, 8)
        assert gain == pytest.approx(speedup, rel=0.05)


def test_a_model_is_found_by_name() -> None:
    assert [find_model(model.name) for model in STORAGE_MODELS] == list(STORAGE_MODELS)
    with pytest.raises(ConfigurationError, match=r"no storage model 'lustr': did you mean lustre\?"):
        find_model("lustr")
