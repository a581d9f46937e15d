"""A real training loop, recorded: steps that wait for emulated slow storage, checkpoints in a burst buffer.

`python -m tests.browser.training_run LOGDIR FOLDER [STORAGE THREADS]`. Every tenth file is read five times as
often as the others. Prints what it did as JSON: `batch_bytes` by step, `files` by path, `order` of reading,
`saves`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import tensorflow as tf

import tfdarshan
from tfdarshan.checkpoint import BurstBuffer

FILES, HOT_EVERY, HOT_READS, EPOCHS, THREADS, BATCH = 240, 10, 5, 2, 4, 16
SAVE_EVERY, STEP_S, VARIABLE_BYTES = 8, 0.03, 4 << 20


def main() -> None:
    """Train."""
    logdir, folder = Path(sys.argv[1]), Path(sys.argv[2])
    storage, threads = sys.argv[3:] or ("hdd", str(THREADS))
    sizes = write_files(folder / "images")
    hot = list(sizes)[::HOT_EVERY] * (HOT_READS - 1)
    order = np.random.default_rng(1).permutation([*sizes, *hot] * EPOCHS).tolist()
    state = tf.Variable(tf.random.normal([VARIABLE_BYTES // 4]))
    counter = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(state=state, counter=counter)
    saves = []
    batch_bytes = []
    with (
        tfdarshan.profile(
            logdir, as_if=storage, as_if_paths=[f"{folder / 'images'}/"], spool_dir=folder, tf_profiler=False
        ),
        # What is to be compared does not depend on when checkpoints are drained.
        nullcontext()
        if sys.argv[3:]
        else BurstBuffer(
            checkpoint,
            fast_dir=folder / "fast",
            slow_dir=folder / "slow",
            max_to_keep=3,
            step_counter=counter,
        ) as buffer,
    ):
        batches = iter(batches_of(order, int(threads)))
        for number in range(-(-len(order) // BATCH)):
            with tfdarshan.step(number) as step:
                with step.input_wait():
                    batch_bytes.append(int(tf.reduce_sum(next(batches))))
                time.sleep(STEP_S)
                counter.assign_add(1)
                if buffer is not None and (number + 1) % SAVE_EVERY == 0:
                    saves.append(Path(buffer.save()).name)
    print(json.dumps({"batch_bytes": batch_bytes, "files": sizes, "order": order, "saves": saves}))


def write_files(folder: Path) -> dict[str, int]:
    """Write the files and drop them from the page cache; return their sizes."""
    rng = np.random.default_rng(0)
    sizes = {}
    for number in range(FILES):
        path = folder / f"class-{number % 6}" / f"{number:04}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        size = int(np.exp(rng.normal(11.2, 0.8)))
        with path.open("wb") as file:
            file.write(rng.bytes(size))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        sizes[str(path)] = size
    return sizes


def batches_of(order: list[str], threads: int) -> tf.data.Dataset:
    """Read the files in order, so many at a time, without a prefetch."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.experimental_optimization.inject_prefetch = False
    files = tf.data.Dataset.from_tensor_slices(order)
    sizes = files.map(lambda path: tf.strings.length(tf.io.read_file(path)), num_parallel_calls=threads)
    return sizes.batch(BATCH).with_options(options)


if __name__ == "__main__":
    main()
