"""The one rule that tells reads which storage served from those that the page cache did: by passes' times.

A pass is what one thread reads of one file from an open to the next, or to a close, and no more than the file
has bytes: of a file that stays open, each reading is one. It counts as served by the page cache where its
reads took no longer than copying from memory would, `CACHED_CALL_S` a call and `CACHED_S_PER_BYTE` a byte,
with room for a busy machine. A pass counts as a whole: of a file read in small pieces the kernel's read-ahead
makes most reads quick, and the few slow ones have the others' data. A fast NVMe device can come near these
bounds; there another device would gain next to nothing either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.call_kinds import KIND
from tfdarshan.analysis.intervals import Array

CACHED_CALL_S = 100e-6
CACHED_S_PER_BYTE = 1 / 500e6
# Passes that are kept one by one.
SAMPLED = 200_000
# Of a pass that goes on: its file and thread, as one number, and the sums of its reads.
HELD = ("key", "calls", "bytes", "read_ns", "end_ns")


@dataclass(frozen=True)
class PassSample:
    """The first passes that storage served: when each ended, in seconds, and its bytes."""

    end_s: Array
    size: Array


def from_storage(calls: Array, moved_bytes: Array, read_s: Array) -> Array:
    """Says of reads that belong together whether storage served them, bool.

    Args:
        calls: How many there are.
        moved_bytes: What they moved.
        read_s: How long they took, added up.
    """
    slow: Array = read_s > calls * CACHED_CALL_S + moved_bytes * CACHED_S_PER_BYTE
    return slow


def passes_of(key: Array, kind: Array, moved_bytes: Array, size_bytes: Array) -> tuple[Array, Array]:
    """Sorts calls into passes.

    Args:
        key: Each call's file and thread, as one number; calls are in order of time.
        kind: What it is, `call_kinds.KIND`.
        moved_bytes: What it read.
        size_bytes: What its file has, not above 0 where that is unknown.

    Returns:
        The order that puts the calls of a pass beside each other, and where in it each pass begins.
    """
    order = np.argsort(key, kind="stable")
    sorted_key, sorted_kind = key[order], kind[order]
    begins = np.ones(len(order), bool)
    begins[1:] = sorted_key[1:] != sorted_key[:-1]
    begins |= sorted_kind == KIND["open"]
    begins[1:] |= sorted_kind[:-1] == KIND["close"]
    moved, size = moved_bytes[order], size_bytes[order]
    before = np.cumsum(moved) - moved
    first = np.flatnonzero(begins)
    before -= np.repeat(before[first], np.diff(np.append(first, len(order))))
    read_whole = np.where(size > 0, before // np.maximum(size, 1), 0)
    begins[1:] |= read_whole[1:] > read_whole[:-1]
    return order, np.flatnonzero(begins)


class StoragePasses:
    """Adds up, file by file, the passes that storage served, of calls that come block by block.

    Args:
        size_bytes: The files' sizes, -1 if unknown: one entry per row of the file table.
    """

    def __init__(self, size_bytes: Array) -> None:
        self._size = size_bytes
        self._read_ns = np.zeros(len(size_bytes), np.int64)
        self._bytes = np.zeros(len(size_bytes), np.int64)
        self._held = {name: np.zeros(0, np.int64) for name in HELD}
        self._ends: list[Array] = []
        self._sizes: list[Array] = []
        self._sampled = 0

    def add(
        self, file: Array, thread: Array, kind: Array, length: Array, times_ns: tuple[Array, Array]
    ) -> None:
        """Adds calls in order of start; `times_ns` are their starts and ends. Only reads of data count."""
        kept = np.flatnonzero((kind == KIND["read"]) | (kind == KIND["open"]) | (kind == KIND["close"]))
        kind = kind[kept]
        reads, held = kind == KIND["read"], self._held
        start, end = (moments[kept] for moments in times_ns)
        rows = {
            "key": (file[kept].astype(np.int64) << 32) | thread[kept],
            "calls": reads.astype(np.int64),
            "bytes": np.where(reads, length[kept], 0),
            "read_ns": np.where(reads, end - start, 0),
            "end_ns": end,
        }
        rows = {name: np.concatenate([held[name], values]) for name, values in rows.items()}
        kind = np.concatenate([np.full(len(held["key"]), KIND["read"], np.int8), kind])
        size = self._size[rows["key"] >> 32]
        order, first = passes_of(rows["key"], kind, rows["bytes"], size)
        self._take(self._summed(rows, order, first), kind[order], first)

    def _summed(self, rows: dict[str, Array], order: Array, first: Array) -> dict[str, Array]:
        if not len(first):
            return rows
        passes = {name: np.add.reduceat(rows[name][order], first) for name in HELD[1:4]}
        passes["key"] = rows["key"][order][first]
        passes["end_ns"] = np.maximum.reduceat(rows["end_ns"][order], first)
        return passes

    def _take(self, passes: dict[str, Array], kind: Array, first: Array) -> None:
        """Judges the passes that have ended; each file and thread's last one may go on in the next block."""
        key = passes["key"]
        last = np.ones(len(key), bool)
        last[:-1] = key[1:] != key[:-1]
        closed = kind[np.append(first[1:], len(kind)) - 1] == KIND["close"] if len(first) else last
        goes_on = last & ~closed & (passes["calls"] > 0)
        self._held = {name: values[goes_on] for name, values in passes.items()}
        self._judge({name: values[~goes_on] for name, values in passes.items()})

    def _judge(self, passes: dict[str, Array]) -> None:
        slow = from_storage(passes["calls"], passes["bytes"], passes["read_ns"] / 1e9)
        file, size = passes["key"][slow] >> 32, passes["bytes"][slow]
        np.add.at(self._read_ns, file, passes["read_ns"][slow])
        np.add.at(self._bytes, file, size)
        if self._sampled < SAMPLED:
            self._sampled += len(size)
            self._ends.append(passes["end_ns"][slow] / 1e9)
            self._sizes.append(size)

    def sums(self) -> tuple[Array, Array, PassSample]:
        """Gives each file's seconds and bytes from storage, float64, and some passes; and then ends."""
        self._judge(self._held)
        self._held = {name: values[:0] for name, values in self._held.items()}
        ends, sizes = (np.concatenate([np.zeros(0), *parts]) for parts in (self._ends, self._sizes))
        return self._read_ns / 1e9, self._bytes.astype(np.float64), PassSample(ends, sizes)
