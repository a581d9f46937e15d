"""Run by a Python that has tensorflow-io: reads an LMDB database by its data set; prints bytes and seconds.

It stands alone: that Python has no tfdarshan.
"""

import json
import sys
import time

import tensorflow as tf
import tensorflow_io as tfio  # type: ignore[import-not-found]


def main() -> None:
    """Reads up to so many bytes of values of a data file, in batches of 16."""
    path, most_bytes = sys.argv[1], int(sys.argv[2])
    small = tf.data.Dataset.from_tensors(b"x").batch(2)
    for batch in small.prefetch(1):  # what TensorFlow starts once
        tf.reduce_sum(tf.strings.length(batch))
    values = tfio.IODataset.from_lmdb(path).map(lambda key, value: value)
    done, begin_s = 0, time.perf_counter()
    for batch in values.batch(16).prefetch(2):
        done += int(tf.reduce_sum(tf.strings.length(batch)))
        if done >= most_bytes:
            break
    elapsed_s = time.perf_counter() - begin_s
    versions = f"tensorflow-io {tfio.__version__} with TensorFlow {tf.__version__}"
    print(json.dumps({"value_bytes": done, "elapsed_s": elapsed_s, "versions": versions}))


if __name__ == "__main__":
    main()
