"""A run in a process of its own, so that no mapping of an earlier one keeps pages in the page cache."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from tfdarshan.errors import StorageError

Result = TypeVar("Result")


def run_cold(data: Path, run: Callable[..., Result], *arguments: object) -> Result:
    """Have the page cache forget a file, and call what can be pickled in a process that has nothing mapped.

    Raises:
        StorageError: The process ended before its result.
    """
    forget(data)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as alone:
        try:
            return alone.submit(run, *arguments).result()
        except BrokenProcessPool as error:
            raise StorageError(f"a process that read {data} ended before it was done: {error}") from error


def forget(data: Path) -> None:
    """Have the page cache drop a file's pages, as far as nobody has them mapped."""
    number = os.open(data, os.O_RDONLY)
    try:
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(number)


def warm_tensorflow() -> None:
    """Have TensorFlow start what it starts once: threads, kernels, its pipeline."""
    import tensorflow as tf

    signature = tf.TensorSpec((), tf.string)
    small: Any = tf.data.Dataset.from_generator(lambda: iter([b"x"] * 4), output_signature=signature)
    for batch in small.batch(2).prefetch(1):
        tf.reduce_sum(tf.strings.length(batch))
