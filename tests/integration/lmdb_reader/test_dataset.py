"""Data sets: batches, epochs, shards and shuffles, in Python, torch and tf.data."""

import itertools
import pickle
import sys
import types
from typing import Any

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tests.integration.lmdb_reader.databases import write
from tfdarshan.errors import ConfigurationError, DataFileError
from tfdarshan.lmdb import Index, batched_records, dataset

RECORDS = 500


def value_of(number):
    return b"%d." % number * (number % 300)


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, value_of(number)) for number in range(RECORDS)])
    return tmp_path / "db"


@pytest.fixture(autouse=True)
def small_reads(monkeypatch):
    """So small that a data set is of many."""
    monkeypatch.setattr(batched_records, "READ_BYTES", 50_000)


def values_of(batches):
    return [value for batch in batches for value in batch.tolist()]


def test_batches_are_the_records_in_order(path):
    # WHEN
    batches = list(dataset(path, batch=32))

    # THEN
    assert [len(batch) for batch in batches] == [32] * 15 + [20]
    assert values_of(batches) == [value_of(number) for number in range(RECORDS)]
    assert [number for batch in batches for number in batch.numbers] == list(range(RECORDS))


def test_the_rest_can_be_left_out(path):
    assert [len(batch) for batch in dataset(path, batch=32, drop_remainder=True)] == [32] * 15


@pytest.mark.parametrize("shuffle", ["blocks", "exact"])
def test_each_epoch_has_all_in_another_order_and_the_same_with_the_seed(path, shuffle):
    with Index(path) as index:
        first, again, other = (
            values_of(dataset(index, batch=7, shuffle=shuffle, seed=seed, epochs=2)) for seed in (1, 1, 5)
        )

    right = sorted(value_of(number) for number in range(RECORDS))
    assert sorted(first[:RECORDS]) == right
    assert sorted(first[RECORDS:]) == right
    assert first[:RECORDS] != first[RECORDS:]
    assert first == again
    assert first != other


@pytest.mark.parametrize("shuffle", ["blocks", "exact"])
def test_each_iteration_has_another_order_and_the_same_with_the_seed(path, shuffle):
    # GIVEN data sets of one epoch, which a loop iterates over for each of its own
    with Index(path) as index:
        first, again = (dataset(index, batch=7, shuffle=shuffle, seed=1) for _ in range(2))
        passes, others = ([values_of(one) for _ in range(3)] for one in (first, again))

    # THEN
    assert passes == others
    assert sorted(passes[0]) == sorted(passes[1]) == sorted(passes[2])
    assert passes[0] != passes[1] != passes[2]


def test_what_counts_iterations_can_be_sent_to_a_worker():
    passes = pickle.loads(pickle.dumps(batched_records.Passes(3)))
    assert passes.begun == 3


def test_iterations_of_one_tf_data_set_at_a_time_have_orders_of_their_own(path):
    # GIVEN one that is iterated over while it is iterated over
    tf.needs("tensorflow")
    with Index(path) as index:
        batches = dataset(index, batch=7, shuffle="blocks", framework="tensorflow", strings=True)
        pairs = list(tf.data.Dataset.zip((batches, batches)).as_numpy_iterator())

    # THEN each has all records
    right = sorted(value_of(number) for number in range(RECORDS))
    for which in range(2):
        assert sorted(value for pair in pairs for value in pair[which].tolist()) == right


def test_shards_share_the_records(path):
    with Index(path) as index:
        parts = [values_of(dataset(index, batch=9, shard=(which, 4))) for which in range(4)]

    assert [len(part) for part in parts] == [125] * 4
    assert [value for part in parts for value in part] == [value_of(number) for number in range(RECORDS)]


def test_a_loop_that_ends_early_leaves_no_thread(path):
    import threading

    before = threading.active_count()
    for _ in dataset(path, batch=2, epochs=None):
        break

    assert threading.active_count() == before


def test_damage_reaches_the_loop_as_an_error(path):
    with Index(path, snapshot="check") as index:
        with (path / "data.mdb").open("r+b") as file:
            file.truncate(8192)
        with pytest.raises(DataFileError, match="ends before byte"):
            list(dataset(index, batch=8))


def test_wrong_options_are_refused(path):
    for wrong in (
        {"batch": 0},
        {"epochs": 0},
        {"shard": (1, 1)},
        {"shuffle": "x"},
        {"framework": "x"},
        {"strings": True},
    ):
        with pytest.raises(ConfigurationError):
            dataset(path, **wrong)


def test_tf_data_gives_flat_batches(path):
    # GIVEN
    tf.needs("tensorflow")
    got = []

    # WHEN
    batches = dataset(path, batch=32, drop_remainder=True, framework="tensorflow")
    for buffer, offsets in batches:
        assert offsets.shape == (33,)
        got += [bytes(buffer.numpy()[first:last]) for first, last in itertools.pairwise(offsets)]

    # THEN
    assert batches.element_spec[1].shape == (33,)
    assert got == [value_of(number) for number in range(480)]


def test_tf_data_gives_batches_of_strings(path):
    tf.needs("tensorflow")

    batches = dataset(path, batch=32, framework="tensorflow", strings=True)

    got = [batch.numpy().tolist() for batch in batches]
    assert [len(batch) for batch in got] == [32] * 15 + [20]
    assert [value for batch in got for value in batch] == [value_of(number) for number in range(RECORDS)]


def test_torch_workers_share_the_shard(path):
    data = pytest.importorskip("torch.utils.data")

    loader = data.DataLoader(dataset(path, batch=16, framework="torch"), batch_size=None, num_workers=2)
    assert sorted(values_of(loader)) == sorted(value_of(number) for number in range(RECORDS))
    with Index(path, snapshot="check") as index:
        loader = data.DataLoader(index, batch_size=50, collate_fn=list, num_workers=2)
        assert [value for batch in loader for _, value in batch] == [value_of(n) for n in range(RECORDS)]


def test_parts_of_torch_workers_without_torch(path, monkeypatch):
    # GIVEN what torch's data sets ask of torch, as it is in worker 1 of 3
    for name in ("torch", "torch.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    data: Any = types.ModuleType("torch.utils.data")
    data.IterableDataset = object
    data.get_worker_info = lambda: types.SimpleNamespace(id=1, num_workers=3, seed=42)
    monkeypatch.setitem(sys.modules, "torch.utils.data", data)
    monkeypatch.delitem(sys.modules, "tfdarshan.lmdb.torch_dataset", raising=False)

    # WHEN
    batches = dataset(path, batch=8, shard=(0, 2), framework="torch")

    # THEN it reads its third of the shard's half
    numbers = np.concatenate([batch.numbers for batch in batches]).tolist()
    monkeypatch.delitem(sys.modules, "tfdarshan.lmdb.torch_dataset")
    assert numbers == list(range(RECORDS // 6, RECORDS // 3))
