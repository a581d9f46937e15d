"""Run by a Python that has tensorflow-io: reads LMDB by its data set; prints bytes and seconds of each run.

It stands alone: that Python has no tfdarshan.
"""

import json
import sys
import time

import tensorflow as tf
import tensorflow_io as tfio  # type: ignore[import-not-found]


def main() -> None:
    """Read up to so many bytes of values of a data file, in batches of 16, so many times."""
    path, most_bytes, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    small = tf.data.Dataset.from_tensors(b"x").batch(2)
    for batch in small.prefetch(1):  # what TensorFlow starts once
        tf.reduce_sum(tf.strings.length(batch))
    for _ in range(runs):
        print(json.dumps(_run(path, most_bytes)), flush=True)


def _run(path: str, most_bytes: int) -> dict[str, object]:
    values = tfio.IODataset.from_lmdb(path).map(lambda key, value: value)
    done, begin_s = 0, time.perf_counter()
    for batch in values.batch(16).prefetch(2):
        done += int(tf.reduce_sum(tf.strings.length(batch)))
        if done >= most_bytes:
            break
    elapsed_s = time.perf_counter() - begin_s
    versions = f"tensorflow-io {tfio.__version__} with TensorFlow {tf.__version__}"
    return {"value_bytes": done, "elapsed_s": elapsed_s, "versions": versions}


if __name__ == "__main__":
    main()
