"""Data sets of a database's records, for a training loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batched_records import Records
from tfdarshan.lmdb.index import Index
from tfdarshan.lmdb.record_order import Shuffle

Framework = Literal["python", "torch", "tensorflow"]


def dataset(
    source: Index | str | os.PathLike[str],
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
) -> Any:
    """Gives a database's values in batches, read ahead by a thread in the background.

    Args:
        source: An index, or the path of a database.
        db: The sub-database of a path.
        batch: Records at a time.
        shard: (i, n): part i of n of the records, for process i of n.
        shuffle: None, "blocks" or "exact": see `record_order`. Each epoch has another order.
        seed: The same seed gives the same orders.
        epochs: How often; None for ever.
        drop_remainder: Leaves out a last batch that is smaller.
        framework: "python" gives an iterable of `Batch`; "torch" a torch IterableDataset of them, whose
            workers share the shard; "tensorflow" a tf.data.Dataset of (buffer, offsets), a flat uint8 tensor
            and int64 offsets of shape (batch + 1,).
        strings: Has tf.data give each batch as a tensor of strings, which takes two copies more.

    Raises:
        ConfigurationError: An option is wrong, or the framework is not installed.
        DataFileError: The database is damaged.
        StorageError: It cannot be opened or read.
    """
    if framework not in MAKERS:
        raise ConfigurationError(f"framework is one of {', '.join(MAKERS)}, not {framework!r}.")
    if strings and framework != "tensorflow":
        raise ConfigurationError("strings are tensors of TensorFlow's: framework='tensorflow' gives them.")
    index = source if isinstance(source, Index) else Index(source, db)
    return MAKERS[framework](Records(index, batch, shard, shuffle, seed, epochs, drop_remainder), strings)


def _torch(records: Records, strings: bool) -> Any:
    from tfdarshan.lmdb.torch_dataset import iterable

    del strings
    return iterable(records)


def _tensorflow(records: Records, strings: bool) -> Any:
    from tfdarshan.lmdb import tensorflow_dataset

    return tensorflow_dataset.strings(records) if strings else tensorflow_dataset.flat(records)


MAKERS: dict[str, Callable[[Records, bool], Any]] = {
    "python": lambda records, strings: records,
    "torch": _torch,
    "tensorflow": _tensorflow,
}
