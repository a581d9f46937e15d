"""The training loop of the scenarios: batches from tf.data, and steps that compute without the processor.

A step sleeps, as a host does while a GPU computes: the machine that runs the suite has few processors, and
what is measured is the input.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import tfdarshan

from ..tf_data import untuned


def train(batches: Any, compute_s: float, after: Callable[[int], None] = lambda step: None) -> None:
    """Take batches and compute on each; `after(step)` runs within the step, when it has computed."""
    source: Iterator[Any] = iter(batches)
    known = int(batches.cardinality())
    # Where the number is not known, asking whether there is more is a step of its own.
    for number in range(known) if known >= 0 else count():
        with tfdarshan.step() as step:
            with step.input_wait():
                batch = next(source, None)
            if batch is None:
                break
            time.sleep(compute_s)
            after(number)


def whole_files(
    paths: list[Path], *, threads: int, batch: int, prefetch: int = 2, epochs: int = 1, cache: bool = False
) -> Any:
    """Return batches of the sizes of files that are read whole, by `tf.io.read_file`."""
    dataset = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    dataset = dataset.map(
        lambda path: tf.strings.length(tf.io.read_file(path)), num_parallel_calls=threads, deterministic=False
    )
    return finished(dataset.cache() if cache else dataset, batch, prefetch, epochs, threads)


def finished(dataset: Any, batch: int, prefetch: int = 2, epochs: int = 1, threads: int = 2) -> Any:
    """Repeat, batch and prefetch, with nothing tuned by TensorFlow."""
    dataset = dataset.repeat(epochs).batch(batch, drop_remainder=True)
    dataset = dataset.prefetch(prefetch) if prefetch else dataset
    return dataset.with_options(untuned(threads))


def generated(rows: Callable[[], Iterator[Any]], batch: int, prefetch: int = 2) -> Any:
    """Return batches of numbers that a Python generator reads."""
    dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.int64))
    return finished(dataset, batch, prefetch)


def read_by(readers: int, read: Callable[[int], int], numbers: int, batch: int, prefetch: int = 2) -> Any:
    """Return batches of what `read(number)` gives for so many numbers from 0 on, so many at a time."""

    def one(number: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(lambda n: np.int64(read(int(n))), [number], tf.int64), ())

    dataset = tf.data.Dataset.range(numbers).map(one, num_parallel_calls=readers, deterministic=False)
    return finished(dataset, batch, prefetch, threads=readers)
