"""Records that the page cache has: views of the mapped file, with a held transaction; else copies."""

import os
import pickle

import numpy as np
import pytest

from tests.integration.lmdb_reader import writer
from tests.integration.lmdb_reader.databases import write
from tests.integration.lmdb_reader.forked_child import in_child
from tfdarshan.errors import DataFileError
from tfdarshan.lmdb import Batch, Index, dataset, measured_reading
from tfdarshan.lmdb.mapped_batch import MappedBatch

VALUES = [b"%d." % number * (number % 300) for number in range(400)] + [os.urandom(50_000), b""]


@pytest.fixture(autouse=True)
def cached(monkeypatch):
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: 1.0)


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, value) for number, value in enumerate(VALUES)])
    return tmp_path / "db"


@pytest.mark.parametrize(("snapshot", "kind"), [("transaction", MappedBatch), ("check", Batch)])
@pytest.mark.parametrize("shuffle", [None, "exact"])
def test_views_and_copies_are_the_same_records(path, snapshot, kind, shuffle):
    with Index(path, snapshot=snapshot) as index:
        order = index.order(shuffle=shuffle, seed=0)
        batches = list(dataset(index, batch=7, shuffle=shuffle))

        assert {type(batch) for batch in batches} == {kind}
        assert [value for batch in batches for value in batch.tolist()] == [VALUES[n] for n in order]
        assert [bytes(value) for batch in batches for value in batch] == [VALUES[n] for n in order]
        assert np.array_equal(np.concatenate([batch.numbers for batch in batches]), order)


def test_a_batch_of_views_is_used_as_any_other(path):
    with Index(path, snapshot="transaction") as index:
        mapped, copied = next(iter(dataset(index, batch=50))), index.read(range(50))

        assert isinstance(mapped, MappedBatch)
        assert len(mapped) == 50
        assert bytes(mapped[-1]) == VALUES[49]
        assert mapped.buffer.tobytes() == copied.buffer.tobytes()
        assert mapped.buffer.flags.writeable
        assert mapped.offsets.tolist() == copied.offsets.tolist()
        with pytest.raises(TypeError):
            mapped[3][0] = 1
        again = pickle.loads(pickle.dumps(mapped))
    assert type(again) is Batch
    assert again.tolist() == mapped.tolist()


def test_views_outlive_the_index(path):
    # GIVEN views of a file that is closed, and removed
    with Index(path, snapshot="transaction") as index:
        views = [value for batch in dataset(index, batch=5) for value in batch]
    del index
    (path / "data.mdb").unlink()

    # THEN what they show is still mapped
    assert list(map(bytes, views)) == VALUES


def test_a_writer_leaves_views_alone_as_long_as_the_index_is_open(tmp_path):
    writer.run(tmp_path / "db", 100)
    with Index(tmp_path / "db", snapshot="transaction") as index:
        batches = list(dataset(index, batch=20))
        assert {type(batch) for batch in batches} == {MappedBatch}
        right = [value for _, value in writer.held_by(index.facts.transaction)]
        writer.run(tmp_path / "db", 300)
        assert [value for batch in batches for value in batch.tolist()] == right


def test_a_forked_child_has_views_while_its_parent_holds_the_transaction(path):
    with Index(path, snapshot="transaction") as index:

        def read():
            batches = list(dataset(index, batch=9))
            assert {type(batch) for batch in batches} == {MappedBatch}
            assert [value for batch in batches for value in batch.tolist()] == VALUES

        assert in_child(read) == 0


@pytest.mark.parametrize("snapshot", ["transaction", "check"])
def test_a_file_that_was_cut_short_is_an_error_and_kills_nobody(path, snapshot):
    with Index(path, snapshot=snapshot) as index:
        os.truncate(path / "data.mdb", 8192)
        with pytest.raises(DataFileError, match="ends before byte"):
            list(dataset(index, batch=8))


def test_a_value_that_is_not_there_any_more_is_an_error(path):
    with Index(path, snapshot="transaction") as index:
        at = int(index.offsets[400]) - 16
        with (path / "data.mdb").open("r+b") as file:
            file.seek(at)
            file.write(b"\xff")
        with pytest.raises(DataFileError, match="does not begin a value"):
            list(dataset(index, batch=8))
