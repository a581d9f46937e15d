"""The papers' input pipelines in tf.data, without TensorFlow's own tuning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from .malware_bytes import BYTES_PER_LINE
from .records import LabelledFile


def untuned(threads: int) -> tf.data.Options:
    """Return options that leave the pipeline as written.

    Without a pool of its own, the pipeline has as many threads as there are cores, whatever
    num_parallel_calls says. And TensorFlow would inject a prefetch and fuse map with batch, which hides
    most of the I/O of a pipeline that is meant to have no prefetch.
    """
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    return options


def file_pipeline(
    files: Sequence[LabelledFile],
    load: Callable[[Any, Any], Any],
    *,
    threads: int,
    batch: int,
    prefetch: int = 0,
    seed: int | None = None,
    epochs: int = 1,
    skip_errors: bool = False,
) -> tf.data.Dataset:
    """Return batches of what `load(path, label)` makes of each file.

    Args:
        files: Read in this order, or shuffled anew each epoch where there is a seed.
        load: Called `threads` at a time.
        threads: Also the size of the pipeline's thread pool.
        batch: Files in a batch; what does not fill the last one is dropped.
        prefetch: Batches made ahead, 0 for none.
        seed: Of the shuffle.
        epochs: Times each file is read.
        skip_errors: Leave out files that cannot be decoded, as the micro-benchmark does.
    """
    dataset = tf.data.Dataset.from_tensor_slices(
        ([str(file.path) for file in files], [file.label for file in files])
    )
    if seed is not None:
        dataset = dataset.shuffle(len(files), seed=seed)
    dataset = dataset.repeat(epochs).map(load, num_parallel_calls=threads)
    if skip_errors:
        dataset = dataset.ignore_errors()
    dataset = dataset.batch(batch, drop_remainder=not skip_errors)
    if prefetch:
        dataset = dataset.prefetch(prefetch)
    return dataset.with_options(untuned(threads))


def read_only(path: Any, label: Any) -> Any:
    """Read a file and return its size."""
    del label
    return tf.strings.length(tf.io.read_file(path))


def image_loader(side: int, classes: int) -> Callable[[Any, Any], Any]:
    """Return a function that reads, decodes, makes floats and resizes."""

    def load(path: Any, label: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        image = tf.image.resize(image, (side, side))
        return tf.ensure_shape(image, (side, side, 3)), tf.one_hot(label, classes)

    return load


def malware_loader(side: int, classes: int) -> Callable[[Any, Any], Any]:
    """Return a function that reads a hex dump and makes a grey image of its bytes."""

    def load(path: Any, label: Any) -> Any:
        values = parse_hex_dump(tf.io.read_file(path))
        image = tf.reshape(values, (-1, BYTES_PER_LINE, 1))
        image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, (side, side))
        return tf.ensure_shape(image, (side, side, 1)), tf.one_hot(label, classes)

    return load


def parse_hex_dump(text: Any) -> Any:
    """Return a dump's bytes as uint8, shape (16 x lines,). What is written "??" counts as 0.

    All lines are as wide as the first one; a last line that is shorter is left out.
    """
    raw = tf.io.decode_raw(text, tf.uint8)
    width = tf.cast(tf.argmax(tf.equal(raw[:128], ord("\n"))), tf.int32) + 1
    lines = tf.size(raw) // width
    table = tf.reshape(raw[: lines * width], (lines, width))
    address = width - (3 * BYTES_PER_LINE + 1 + tf.cast(tf.equal(table[0, width - 2], ord("\r")), tf.int32))
    digits = tf.reshape(table[:, address : address + 3 * BYTES_PER_LINE], (-1, 3))[:, 1:]
    values = tf.where(digits >= ord("A"), digits - (ord("A") - 10), digits - ord("0"))
    values = tf.where(tf.equal(digits, ord("?")), tf.zeros_like(values), values)
    return values[:, 0] * 16 + values[:, 1]
