"""In which order records are read, and by whom."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError

Shuffle = Literal["blocks", "exact"]
BLOCK_BYTES = 4 << 20


def shard_of(count: int, shard: tuple[int, int]) -> tuple[int, int]:
    """Return the first record of a shard and the one after its last: shards are contiguous and of one size.

    Raises:
        ConfigurationError: There is no such shard.
    """
    which, shards = shard
    if shards < 1 or not 0 <= which < shards:
        raise ConfigurationError(f"shard must be (i, n) with 0 <= i < n, not {shard!r}.")
    return count * which // shards, count * (which + 1) // shards


def record_order(
    sizes: NDArray[np.uint32], shard: tuple[int, int], shuffle: Shuffle | None, seed: int
) -> NDArray[np.uint64]:
    """Return the records of a shard in the order in which they are to be read.

    Args:
        sizes: Of all records' values, in bytes, in the order of keys.
        shard: (i, n): part i of n.
        shuffle: None is the order of keys. "exact" draws one order of all. "blocks" draws the order of blocks
            of some 4 MiB that lie together, and the order of records within each: it reads as fast as in
            order, and neighbours stay near each other.
        seed: The same seed gives the same order.

    Raises:
        ConfigurationError: There is no such shard or order.
    """
    first, last = shard_of(len(sizes), shard)
    numbers = np.arange(first, last, dtype=np.uint64)
    if shuffle is None:
        return numbers
    dice = np.random.default_rng(seed)
    if shuffle == "exact":
        dice.shuffle(numbers)
        return numbers
    if shuffle != "blocks":
        raise ConfigurationError(f"shuffle must be None, 'blocks' or 'exact', not {shuffle!r}.")
    blocks = _blocks(numbers, sizes[first:last])
    order = [blocks[block] for block in dice.permutation(len(blocks))]
    return np.concatenate([dice.permutation(block) for block in order]) if order else numbers


def _blocks(numbers: NDArray[np.uint64], sizes: NDArray[np.uint32]) -> list[NDArray[np.uint64]]:
    """Parts the records into blocks of some 4 MiB each."""
    if not len(numbers):
        return []
    ends = np.cumsum(sizes, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(ends // BLOCK_BYTES)) + 1
    return np.split(numbers, cuts)
