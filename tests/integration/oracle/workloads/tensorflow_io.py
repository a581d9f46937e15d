"""TensorFlow's own file I/O."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import tensorflow as tf

RECORDS = [bytes([number % 251]) * (100 + 37 * number) for number in range(300)]


def _write_files(directory: Path, count: int, step_bytes: int) -> list[str]:
    paths = [directory / f"{number:03d}.bin" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(b"x" * (step_bytes * (number + 1)))
    return [str(path) for path in paths]


def _elements(dataset: tf.data.Dataset) -> int:
    """Count a dataset's elements, a thousand at a time: with many threads each round trip costs a switch."""
    return sum(len(tf.nest.flatten(batch)[0]) for batch in dataset.batch(1000))


def prepare_read_file(directory: Path) -> None:
    _write_files(directory, 60, 30_011)  # up to 1.8 MB: also files of two reads with data


def read_file(directory: Path) -> None:
    paths = [str(path) for path in sorted(directory.iterdir())]
    dataset = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file, num_parallel_calls=8)
    assert sum(len(data.numpy()) for data in dataset) == 30_011 * 60 * 61 // 2


def _write_and_read_records(path: Path, compression: str) -> None:
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in RECORDS:
            writer.write(record)
    dataset = tf.data.TFRecordDataset(str(path), compression)
    assert [record for batch in dataset.batch(100) for record in batch.numpy().tolist()] == RECORDS


def tfrecord_plain(directory: Path) -> None:
    _write_and_read_records(directory / "plain.tfrecord", "")


def tfrecord_gzip(directory: Path) -> None:
    _write_and_read_records(directory / "packed.tfrecord.gz", "GZIP")


def prepare_fixed_length_record(directory: Path) -> None:
    _write_files(directory, 3, 64_000)


def fixed_length_record(directory: Path) -> None:
    paths = [str(path) for path in sorted(directory.iterdir())]
    dataset = tf.data.FixedLengthRecordDataset(paths, 640, header_bytes=320, footer_bytes=320)
    assert _elements(dataset) == 100 + 200 + 300 - 3


def prepare_text_line(directory: Path) -> None:
    for number in range(3):
        (directory / f"{number}.txt").write_text("one line of text\n" * 5000 * (number + 1))


def text_line(directory: Path) -> None:
    paths = [str(path) for path in sorted(directory.iterdir())]
    dataset = tf.data.TextLineDataset(paths, num_parallel_reads=3)
    assert _elements(dataset) == 30_000


def dataset_cache(directory: Path) -> None:
    dataset = tf.data.Dataset.range(2000).map(lambda number: tf.fill((100,), number))
    dataset = dataset.cache(str(directory / "cache"))
    for _ in range(2):  # the first pass writes, the second reads
        assert _elements(dataset) == 2000


def dataset_save_and_load(directory: Path) -> None:
    tf.data.Dataset.range(5000).map(lambda number: tf.fill((20,), number)).save(str(directory / "saved"))
    assert _elements(tf.data.Dataset.load(str(directory / "saved"))) == 5000


def checkpoint(directory: Path) -> None:
    values = tf.Variable(tf.random.uniform((700, 1000)))
    small = tf.Variable(tf.zeros((11,)))
    saved = tf.train.Checkpoint(values=values, small=small)
    manager = tf.train.CheckpointManager(saved, str(directory), max_to_keep=2)
    for _ in range(3):
        manager.save()
    expected = values.numpy()
    values.assign(tf.zeros_like(values))
    saved.restore(manager.latest_checkpoint).assert_consumed()
    assert (values.numpy() == expected).all()


def prepare_sql_dataset(directory: Path) -> None:
    connection = sqlite3.connect(directory / "rows.sqlite")
    connection.execute("create table numbers (value integer, name text)")
    rows = ((number, f"name {number}" * 10) for number in range(20_000))
    connection.executemany("insert into numbers values (?, ?)", rows)
    connection.commit()
    connection.close()


def sql_dataset(directory: Path) -> None:
    query = "select value, name from numbers order by value"
    types = (tf.int64, tf.string)
    dataset = tf.data.experimental.SqlDataset("sqlite", str(directory / "rows.sqlite"), query, types)
    assert _elements(dataset) == 20_000


def prepare_gfile_copy(directory: Path) -> None:
    (directory / "source").write_bytes(b"x" * 5_000_017)


def gfile_copy(directory: Path) -> None:
    tf.io.gfile.copy(str(directory / "source"), str(directory / "target"))
    tf.io.gfile.copy(str(directory / "source"), str(directory / "target"), overwrite=True)
    assert (directory / "target").stat().st_size == 5_000_017


def gfile(directory: Path) -> None:
    path = str(directory / "file.txt")
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("line\n" * 10_000)
    with tf.io.gfile.GFile(path, "a") as file:
        file.write("last")
    with tf.io.gfile.GFile(path) as file:
        file.seek(100)
        assert len(file.read(1000)) == 1000
        assert len(file.read()) == 50_004 - 1100
        assert file.size() == 50_004
    assert tf.io.gfile.exists(path)
    assert tf.io.gfile.stat(path).length == 50_004
    tf.io.gfile.makedirs(str(directory / "a" / "b"))
    tf.io.gfile.rename(path, str(directory / "a" / "b" / "file.txt"))
    assert tf.io.gfile.glob(str(directory / "a" / "*" / "*.txt"))
    assert len(list(tf.io.gfile.walk(str(directory)))) == 3
    tf.io.gfile.rmtree(str(directory / "a"))


def asynchronous_checkpoint(directory: Path) -> None:
    saved = tf.train.Checkpoint(values=tf.Variable(tf.random.uniform((300, 1000))))
    options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
    for _ in range(2):
        saved.save(str(directory / "ckpt"), options)
    saved.sync()


def saved_model(directory: Path) -> None:
    module = tf.Module()
    module.values = tf.Variable(tf.ones((400, 100)))
    module.double = tf.function(lambda: module.values * 2, input_signature=[])
    tf.saved_model.save(module, str(directory / "model"))
    loaded = tf.saved_model.load(str(directory / "model"))
    assert float(tf.reduce_sum(loaded.double())) == 80_000


def summary_writer(directory: Path) -> None:
    writer = tf.summary.create_file_writer(str(directory))
    with writer.as_default():
        for step in range(50):
            tf.summary.write("values", tf.random.uniform((step,)), step)
        writer.flush()
    writer.close()


def write_file(directory: Path) -> None:
    for number in range(5):
        tf.io.write_file(str(directory / "new" / f"{number}"), "x" * (100_000 * number))
    assert len(tf.io.matching_files(str(directory / "new" / "*"))) == 5
