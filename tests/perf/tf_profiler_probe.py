"""One process: 10 steps of a job in turn unprofiled, with TensorFlow's profiler, and with us in it.

Prints, for each round, the seconds that the steps took and those of stop().
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tfdarshan

STEPS = 10
ARMS = ("none", "tensorflow", "tfdarshan")


def image_batches(folder: Path) -> Any:
    """Return batches of 64 decoded images: many files of about 100 KB."""
    import tensorflow as tf

    from tfdarshan.workloads.images import write_images

    paths = [str(image.path) for image in write_images(folder / "images", 512)]

    def load(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, (64, 64))

    files = tf.data.Dataset.from_tensor_slices(paths).repeat()
    return files.map(load, num_parallel_calls=2).batch(64).prefetch(2)


def malware_batches(folder: Path) -> Any:
    """Return batches of 8 files of 4 MB each, made smaller."""
    import tensorflow as tf

    paths = [folder / f"{number}.bytes" for number in range(32)]
    for path in paths:
        path.write_bytes(bytes(range(256)) * 16_384)

    def load(path: Any) -> Any:
        data = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
        return tf.cast(tf.reshape(data, (-1, 4096, 1))[::16, ::64], tf.float32)

    files = tf.data.Dataset.from_tensor_slices([str(path) for path in paths]).repeat()
    return files.map(load, num_parallel_calls=2).batch(8).prefetch(2)


JOBS = {"images": image_batches, "malware": malware_batches}


def run(batches: Iterator[Any], train: Any, arm: str, logdir: Path) -> dict[str, float]:
    """Run 10 steps in one of the ways; return the seconds of the steps and of what follows them."""
    import tensorflow as tf

    (tfdarshan.enable if arm == "tfdarshan" else tfdarshan.disable)()
    if arm != "none":
        tf.profiler.experimental.start(str(logdir))
    begin = time.perf_counter()
    for _ in range(STEPS):
        train(next(batches))
    steps_s = time.perf_counter() - begin
    begin = time.perf_counter()
    if arm != "none":
        tf.profiler.experimental.stop()
    stop_s = time.perf_counter() - begin
    tfdarshan.disable()  # waits for the session to be written: the next round is not to pay for it
    return {"steps_s": steps_s, "stop_s": stop_s, "written_s": time.perf_counter() - begin - stop_s}


def main(job: str, folder: Path, rounds: int) -> None:
    """Print the rounds."""
    import tensorflow as tf

    batches = iter(JOBS[job](folder))
    weights = tf.Variable(tf.random.stateless_normal((int(tf.size(next(batches)[0])), 64), (1, 2)))

    @tf.function
    def train(batch: Any) -> None:
        rows = tf.reshape(batch, (tf.shape(batch)[0], -1))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(tf.matmul(rows, weights)))
        weights.assign_sub(1e-9 * tape.gradient(loss, weights))

    for arm in ARMS:  # the first of everything is slower
        run(batches, train, arm, folder / "warm")
    found = []
    for number in range(rounds):
        turn = number % len(ARMS)
        arms = ARMS[turn:] + ARMS[:turn]
        found.append({arm: run(batches, train, arm, folder / arm) for arm in arms})
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
