"""The same files packed as one LMDB database or as TFRecord shards."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from .disk_room import check_room

TRANSACTION_RECORDS = 256
_LMDB_OVERHEAD = 1.3  # whole 4 KiB pages for every record, and the tree


class LabelledFile(Protocol):
    """What the generators give."""

    @property
    def path(self) -> Path: ...
    @property
    def label(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...


def write_tfrecords(
    files: Sequence[LabelledFile],
    directory: Path,
    *,
    shards: int = 4,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Path]:
    """Return TFRecord shards of `tf.train.Example`s with `data` and `label`, written where they are missing.

    Shard `s` holds the files s, s + shards, s + 2 shards ... Each shard appears whole or not at all, so an
    interrupted run goes on with the first one that is missing.
    """
    import tensorflow as tf

    root = directory / f"tfrecord-{_fingerprint(files)}"
    paths = [root / f"{shard:05d}-of-{shards:05d}.tfrecord" for shard in range(shards)]
    missing = [shard for shard in range(shards) if not paths[shard].exists()]
    check_room(root, sum(file.size_bytes for shard in missing for file in files[shard::shards]), "TFRecord")
    root.mkdir(parents=True, exist_ok=True)
    for shard in missing:
        partial = paths[shard].with_suffix(".partial")
        with tf.io.TFRecordWriter(str(partial)) as writer:
            for file in files[shard::shards]:
                writer.write(_example(tf, file))
        partial.replace(paths[shard])
        progress(shard + 1, shards)
    return paths


def write_lmdb(
    files: Sequence[LabelledFile],
    directory: Path,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Return an LMDB database as Caffe's: keys are the index in 8 digits, values one label byte and the file.

    An interrupted run leaves a partial database, which the next one goes on with. Records are appended in
    the order of their keys.
    """
    import lmdb

    total_bytes = sum(file.size_bytes for file in files)
    root, partial = (directory / f"lmdb-{_fingerprint(files)}{end}" for end in ("", ".partial"))
    if root.is_dir():
        return root
    check_room(directory, int(total_bytes * _LMDB_OVERHEAD), "LMDB")
    partial.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(partial), map_size=2 * int(total_bytes * _LMDB_OVERHEAD) + (64 << 20)) as database:
        done = database.stat()["entries"]
        for start in range(done, len(files), TRANSACTION_RECORDS):
            with database.begin(write=True) as transaction:
                for index in range(start, min(start + TRANSACTION_RECORDS, len(files))):
                    value = bytes([files[index].label % 256]) + files[index].path.read_bytes()
                    transaction.put(b"%08d" % index, value, append=True)
            progress(min(start + TRANSACTION_RECORDS, len(files)), len(files))
    shutil.move(partial, root)
    return root


def _example(tf: object, file: LabelledFile) -> bytes:
    train = tf.train  # type: ignore[attr-defined]
    features = {
        "data": train.Feature(bytes_list=train.BytesList(value=[file.path.read_bytes()])),
        "label": train.Feature(int64_list=train.Int64List(value=[file.label])),
    }
    example: bytes = train.Example(features=train.Features(feature=features)).SerializeToString()
    return example


def _fingerprint(files: Sequence[LabelledFile]) -> str:
    """Return a name for exactly these files."""
    words = "\n".join(f"{file.path}\t{file.label}\t{file.size_bytes}" for file in files)
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:16]
