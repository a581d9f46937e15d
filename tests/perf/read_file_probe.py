"""One process: tf.io.read_file over files sized as ImageNet's. Prints what the session takes on disk."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import tfdarshan
from tests.perf.session_size import session_size


def make_files(folder: Path, count: int) -> list[str]:
    """Make files with a median of 88 KB, all under 1 MiB; return their paths."""
    source = random.Random(1)
    folder.mkdir()
    paths = [folder / f"{number:06d}.jpg" for number in range(count)]
    for path in paths:
        path.write_bytes(bytes(min(960_000, int(88_000 * source.lognormvariate(0, 0.6)))))
    return [str(path) for path in paths]


def main(folder: Path, count: int, epochs: int) -> None:
    """Read every file in every epoch, shuffled, 8 at a time."""
    import tensorflow as tf

    paths = make_files(folder / "images", count)
    dataset = tf.data.Dataset.from_tensor_slices(paths).shuffle(count).repeat(epochs)
    dataset = dataset.map(tf.io.read_file, num_parallel_calls=8).batch(100)
    with tfdarshan.profile(folder / "logs", tf_profiler=False) as session:
        for _ in dataset:
            pass
    reads = int(session.files["POSIX_READS"].sum())
    print(json.dumps({"reads": reads, **session_size(session)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
