"""Batches as tf.data has them. The only module that imports TensorFlow, which it does when it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batched_records import Records

try:
    import tensorflow as tf
except ImportError as error:
    raise ConfigurationError(f"framework='tensorflow' needs TensorFlow: {error}.") from error


def flat(records: Records) -> Any:
    """Gives a tf.data.Dataset of (buffer, offsets)."""

    def batches() -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        return ((batch.buffer, batch.offsets) for batch in records)

    last = records.batch + 1 if records.drop_remainder else None
    return tf.data.Dataset.from_generator(
        batches,
        output_signature=(tf.TensorSpec((None,), tf.uint8), tf.TensorSpec((last,), tf.int64)),
    )


def strings(records: Records) -> Any:
    """Gives a tf.data.Dataset of string tensors, a batch each."""

    def batches() -> Iterator[NDArray[np.object_]]:
        return (np.array(batch.tolist(), np.object_) for batch in records)

    length = records.batch if records.drop_remainder else None
    return tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec((length,), tf.string))
