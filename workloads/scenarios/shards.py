"""The same files as TFRecord shards, for fixes and for healthy jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from .training_loop import finished


def write_shards(files: list[Path], folder: Path, shards: int) -> list[Path]:
    """Return TFRecord shards with one record per file, written where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{shard:03}-of-{shards:03}-{len(files)}.tfrecord" for shard in range(shards)]
    for shard, path in enumerate(paths):
        if not path.exists():
            partial = path.with_suffix(".partial")
            with tf.io.TFRecordWriter(str(partial)) as writer:
                for file in files[shard::shards]:
                    writer.write(file.read_bytes())
            partial.replace(path)
    return paths


def shard_batches(
    paths: list[Path], *, batch: int, buffer_bytes: int = 1 << 20, readers: int | None = None
) -> Any:
    """Return batches of the sizes of records, read one shard after the other or `readers` at a time."""
    names = [str(path) for path in paths]
    dataset = tf.data.TFRecordDataset(names, buffer_size=buffer_bytes, num_parallel_reads=readers)
    return finished(dataset.map(tf.strings.length), batch, threads=readers or 2)
