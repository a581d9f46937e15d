"""Opens staged files in every way there is, and prints what was read: `redirect_child DATA PLAN WHAT`.

With WHAT "mirror", PLAN is a mirror of DATA: prints whether its batches are the same."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np

import tfdarshan

DATA, PLAN, WHAT = Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def names() -> list[Path]:
    return sorted(path for path in DATA.rglob("*") if path.is_file())


def digest(read) -> str:
    """Return the checksum of all files' bytes as `read` gives them."""
    found = hashlib.sha256()
    for path in names():
        found.update(read(path))
    return found.hexdigest()


def read_descriptor(path) -> bytes:
    handle = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(handle, 1 << 20), b""))
    finally:
        os.close(handle)


def read_relative(path) -> bytes:
    return read_descriptor(os.path.relpath(path, DATA))


def read_climbing(path) -> bytes:
    return read_descriptor(os.path.join("..", DATA.name, os.path.relpath(path, DATA)))


def read_spelled(path) -> bytes:
    return read_descriptor(os.path.join(DATA, "..", DATA.name, os.path.relpath(path, DATA)))


def batches(folder: Path = DATA) -> str:
    """Return the checksum of shuffled batches made by tf.io.read_file."""
    import tensorflow as tf

    paths = [os.fsencode(folder / path.relative_to(DATA)) for path in names()]
    dataset = tf.data.Dataset.from_tensor_slices(paths)
    dataset = dataset.shuffle(1_000, seed=3, reshuffle_each_iteration=False)
    dataset = dataset.map(tf.io.read_file, num_parallel_calls=4, deterministic=True).batch(8)
    found = hashlib.sha256()
    for batch in dataset:
        for value in batch.numpy():
            found.update(value)
    return found.hexdigest()


WAYS = {
    "python": lambda: digest(lambda path: path.read_bytes()),
    "descriptor": lambda: digest(read_descriptor),
    "relative": lambda: digest(read_relative),
    "climbing": lambda: digest(read_climbing),
    "spelled": lambda: digest(read_spelled),
    "numpy": lambda: digest(lambda path: np.fromfile(path, np.uint8).tobytes()),
    "tensorflow": batches,
}


def main() -> None:
    if WHAT == "mirror":
        print(json.dumps(batches() == batches(Path(PLAN))))
        return
    os.chdir(DATA)
    way = WAYS[WHAT]
    plain = way()
    with tfdarshan.staged(PLAN) as files:
        redirected = way()
    totals = files.totals
    after = way()
    print(
        json.dumps(
            {
                "same": plain == redirected == after,
                "copies": totals.copies,
                "missing": totals.missing,
                "stale": totals.stale,
                "staged": files.count,
            }
        )
    )


if __name__ == "__main__":
    main()
