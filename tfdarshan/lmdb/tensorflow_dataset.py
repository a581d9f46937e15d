"""Batches as tf.data has them. With `tensorflow_op` what imports TensorFlow, when it is imported itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batched_records import Records
from tfdarshan.lmdb.borrowed_records import BorrowedRecords

try:
    import tensorflow as tf
except ImportError as error:
    raise ConfigurationError(f"framework='tensorflow' needs TensorFlow: {error}.") from error

from tfdarshan.lmdb import tensorflow_op

BATCHES_KEPT = 2


def flat(records: Records) -> Any:
    """Return a tf.data.Dataset of (buffer, offsets)."""
    last = records.batch + 1 if records.drop_remainder else None
    signature = (tf.TensorSpec((None,), tf.uint8), tf.TensorSpec((last,), tf.int64))
    lent = _lent(records)
    if lent is not None:
        return _by_op(lent, "tfdarshan_lmdb_flat", signature)

    def batches() -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        return ((batch.buffer, batch.offsets) for batch in records)

    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def strings(records: Records) -> Any:
    """Return a tf.data.Dataset of string tensors, a batch each."""
    signature = tf.TensorSpec((records.batch if records.drop_remainder else None,), tf.string)
    lent = _lent(records)
    if lent is not None:
        return _by_op(lent, "tfdarshan_lmdb_strings", signature)

    def batches() -> Iterator[NDArray[np.object_]]:
        return (np.array(batch.tolist(), np.object_) for batch in records)

    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def _lent(records: Records) -> BorrowedRecords | None:
    """Have the op read them; None where it cannot, and batches come through Python."""
    if records.index.reads_by_py_lmdb or tensorflow_op.ops() is None:
        return None
    lent = records.index.lend()
    return None if lent is None else BorrowedRecords(records, lent)


def _by_op(lent: BorrowedRecords, name: str, signature: Any) -> Any:
    """Return the data set: Python is asked for the records of each span, and for nothing else."""
    read, batch = getattr(tensorflow_op.ops(), name), lent.records.batch

    def of_span(first_epoch: Any, span: Any) -> Any:
        numbers = tf.numpy_function(lent.numbers, [first_epoch, span], tf.int64)
        numbers.set_shape((None,))

        def one(first: Any) -> Any:
            values = read(lent=lent.lent.number, span=span, numbers=numbers, first=first, count=batch)
            values = tuple(values) if isinstance(signature, tuple) else values
            tf.nest.map_structure(lambda value, spec: value.set_shape(spec.shape), values, signature)
            return values

        firsts = tf.data.Dataset.range(0, tf.size(numbers, tf.int64), batch)
        return firsts.map(one, num_parallel_calls=lent.batches_ahead, deterministic=True)

    epochs = lent.records.epochs
    count = np.iinfo(np.int64).max if epochs is None and lent.spans else (epochs or 0) * lent.spans

    def of_iteration(_: Any) -> Any:
        first_epoch = tf.numpy_function(lent.begin, [], tf.int64)
        return tf.data.Dataset.range(count).map(lambda span: (first_epoch, span))

    spans = tf.data.Dataset.range(1).flat_map(of_iteration)
    return spans.flat_map(of_span).prefetch(BATCHES_KEPT)
