"""Data sets of a database's records, for a training loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batched_records import Records
from tfdarshan.lmdb.held_snapshot import Environment
from tfdarshan.lmdb.index import THREADS, Index
from tfdarshan.lmdb.record_order import Shuffle
from tfdarshan.lmdb.remedy import Remedy, RemedyName, remedy_of
from tfdarshan.lmdb.shared_reader import SharedRecords

Framework = Literal["python", "torch", "tensorflow"]


def dataset(
    source: Index | str | os.PathLike[str] | Environment,
    *,
    db: bytes | str | None = None,
    batch: int = 1,
    shard: tuple[int, int] = (0, 1),
    shuffle: Shuffle | None = None,
    seed: int = 0,
    epochs: int | None = 1,
    drop_remainder: bool = False,
    framework: Framework = "python",
    strings: bool = False,
    remedy: RemedyName | None = None,
    readers: int = 1,
) -> Any:
    """Return a database's values in batches, read ahead by a thread in the background.

    Args:
        source: An index, the path of a database, or the lmdb.Environment in which the job has it open.
        db: The sub-database of a path.
        batch: Records at a time.
        shard: (i, n): part i of n of the records, for process i of n.
        shuffle: None, "blocks" or "exact": see `record_order`. Each epoch has another order.
        seed: The same seed gives the same orders; in a DataLoader's workers, with the same seed of PyTorch's.
        epochs: How often; None for ever.
        drop_remainder: Leaves out a last batch that is smaller.
        framework: "python" gives an iterable of `Batch`; "torch" a torch IterableDataset of them, whose
            workers share the shard; "tensorflow" a tf.data.Dataset of (buffer, offsets), a flat uint8 tensor
            and int64 offsets of shape (batch + 1,).
        strings: Has tf.data give each batch as a tensor of strings, which takes two copies more.
        remedy: One of LMDBIO's, by its name (see `REMEDIES`), of a database that is given by its path; None
            reads as the storage wants it.
        readers: With "LMM": for how many workers one process reads. They are forked later, and each takes its
            part: `part(i, readers)`; torch's do so by themselves.

    Raises:
        ConfigurationError: An option is wrong, or the framework is not installed.
        DataFileError: The database is damaged.
        StorageError: It cannot be opened or read.
    """
    if framework not in MAKERS:
        raise ConfigurationError(f"framework must be one of {', '.join(MAKERS)}, not {framework!r}.")
    if strings and framework != "tensorflow":
        raise ConfigurationError("strings are tensors of TensorFlow's: framework='tensorflow' gives them.")
    chosen = None if remedy is None else remedy_of(remedy)
    index = _index(source, db, chosen)
    records = Records(index, batch, shard, shuffle, seed, epochs, drop_remainder)
    if chosen is not None:
        records = replace(records, read_bytes=chosen.read_bytes, takes_turns=chosen.takes_turns)
    if chosen is not None and chosen.shared:
        return _shared(records, readers, framework)
    return MAKERS[framework](records, strings)


def _index(
    source: Index | str | os.PathLike[str] | Environment, db: bytes | str | None, remedy: Remedy | None
) -> Index:
    if remedy is None:
        return source if isinstance(source, Index) else Index(source, db)
    if isinstance(source, Index):
        raise ConfigurationError(
            "a remedy says how the database is opened: give its path in place of an index."
        )
    return Index(source, db, access=remedy.access, threads=remedy.threads or THREADS)


def _shared(records: Records, readers: int, framework: Framework) -> Any:
    if framework == "tensorflow":
        raise ConfigurationError(
            "one process reads for workers that are processes, and tf.data's are threads."
        )
    shared = SharedRecords(records, readers)
    return MAKERS["torch"](shared, False) if framework == "torch" else shared


def _torch(records: Records | SharedRecords, strings: bool) -> Any:
    from tfdarshan.lmdb.torch_dataset import iterable

    del strings
    return iterable(records)


def _tensorflow(records: Records, strings: bool) -> Any:
    from tfdarshan.lmdb import tensorflow_dataset

    return tensorflow_dataset.strings(records) if strings else tensorflow_dataset.flat(records)


MAKERS: dict[str, Callable[[Any, bool], Any]] = {
    "python": lambda records, strings: records,
    "torch": _torch,
    "tensorflow": _tensorflow,
}
