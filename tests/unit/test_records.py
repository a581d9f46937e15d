"""The LMDB and TFRecord variants hold what the files hold, and are made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import later_tensorflow as tf
from tfdarshan.workloads.malware_bytes import MalwareFile, write_malware
from tfdarshan.workloads.records import write_lmdb, write_tfrecords


@pytest.fixture
def files(tmp_path: Path) -> list[MalwareFile]:
    """Eleven small files."""
    return write_malware(tmp_path / "files", 11, size_scale=0.001)


def test_lmdb_holds_every_file_in_order(files: list[MalwareFile], tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb")
    # WHEN it is made
    path = write_lmdb(files, tmp_path / "packed")
    # THEN an independent reader finds label and bytes under each key
    with lmdb.open(str(path), readonly=True) as database, database.begin() as transaction:
        records = list(transaction.cursor())
    assert records == [
        (b"%08d" % index, bytes([file.label]) + file.path.read_bytes()) for index, file in enumerate(files)
    ]


def test_an_interrupted_lmdb_is_completed(
    files: list[MalwareFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lmdb = pytest.importorskip("lmdb")
    # GIVEN a run that ends after the second of several transactions
    monkeypatch.setattr("tfdarshan.workloads.records.TRANSACTION_RECORDS", 3)

    def interrupt(done: int, total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lmdb(files, tmp_path / "packed", progress=interrupt)
    # WHEN it is asked for again, twice
    calls: list[int] = []
    path = write_lmdb(files, tmp_path / "packed", progress=lambda done, total: calls.append(done))
    assert write_lmdb(files, tmp_path / "packed", progress=lambda *call: pytest.fail("made again")) == path
    # THEN only what was missing was added
    assert calls == [9, 11]
    with lmdb.open(str(path), readonly=True) as database:
        assert database.stat()["entries"] == 11


def test_tfrecord_shards_hold_every_file(files: list[MalwareFile], tmp_path: Path) -> None:
    tf.needs("tensorflow")
    # WHEN they are made, one is lost, and they are made again
    paths = write_tfrecords(files, tmp_path / "packed", shards=3)
    kept = paths[0].stat().st_mtime_ns
    paths[1].unlink()
    assert write_tfrecords(files, tmp_path / "packed", shards=3) == paths
    # THEN each holds its files, and the others were left alone
    for shard, path in enumerate(paths):
        examples = [
            tf.train.Example.FromString(record.numpy()) for record in tf.data.TFRecordDataset(str(path))
        ]
        values = [
            (
                example.features.feature["data"].bytes_list.value[0],
                example.features.feature["label"].int64_list,
            )
            for example in examples
        ]
        expected = files[shard::3]
        assert [data for data, _ in values] == [file.path.read_bytes() for file in expected]
        assert [label.value[0] for _, label in values] == [file.label for file in expected]
    assert paths[0].stat().st_mtime_ns == kept
