"""Real TensorFlow checkpoints of several shards with known values, and copies made as TensorFlow writes."""

from __future__ import annotations

import shutil
from pathlib import Path

POOL_SIZE = 6
SHARD_BYTES = 200_000
VALUES = 60_000


def make_pool(folder: Path) -> None:
    """Save checkpoints 1 to POOL_SIZE, whose values tell their number."""
    import tensorflow as tf

    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=SHARD_BYTES)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    for number in range(1, POOL_SIZE + 1):
        values = {"a": tf.Variable(tf.fill([VALUES], float(number)))}
        values["b"] = tf.Variable(tf.range(VALUES, dtype=tf.float32) * number)
        tf.train.Checkpoint(number=tf.Variable(number), **values).write(
            str(folder / f"pool-{number}"), options
        )


def pool_number(number: int) -> int:
    """Return which checkpoint of the pool stands for checkpoint `number`."""
    return (number - 1) % POOL_SIZE + 1


def pool_files(pool: Path, number: int) -> list[Path]:
    """List the files that checkpoint `number` is a copy of, the index last."""
    stem = f"pool-{pool_number(number)}."
    files = [path for path in pool.iterdir() if path.name.startswith(stem)]
    return sorted(files, key=lambda path: (path.suffix == ".index", path.name))


def write_like_tensorflow(pool: Path, prefix: Path, number: int) -> None:
    """Write checkpoint `number`: shards under temporary names, then the index in place, no fsync."""
    temporary = Path(f"{prefix}_temp")
    temporary.mkdir(exist_ok=True)
    stem = f"pool-{pool_number(number)}"
    *shards, index = pool_files(pool, number)
    for shard in shards:
        growing = temporary / f"{shard.name}.tempstate{number}"
        shutil.copyfile(shard, growing)
        growing.replace(temporary / shard.name)
    for shard in shards:
        (temporary / shard.name).replace(prefix.parent / shard.name.replace(stem, prefix.name))
    shutil.copyfile(index, prefix.with_name(prefix.name + ".index"))
    temporary.rmdir()
