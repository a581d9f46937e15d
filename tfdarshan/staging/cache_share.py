"""Tells reads that storage served from those that the page cache did, by how long they took.

A pass is what one thread reads of one file between two opens of it. It counts as served by the page cache
where its reads took no longer than copying from memory would, `CACHED_CALL_S` a call and `CACHED_S_PER_BYTE`
a byte, with room for a busy machine. A pass counts as a whole: of a file read in small pieces the kernel's
read-ahead makes most reads quick, and the few slow ones have the others' data. A fast NVMe device can come
near these bounds; there staging would gain next to nothing either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.native import _bridge
from tfdarshan.sessions.process_data import ProcessData

Array = Any

CACHED_CALL_S = 100e-6
CACHED_S_PER_BYTE = 1 / 500e6
EVENT_COLUMNS = ("start_ns", "end_ns", "tid", "operation", "file", "length", "error")
OPENING = ("open", "fopen")
# Passes that are looked at one by one.
SAMPLED = 200_000


@dataclass(frozen=True)
class PassTotals:
    """Sums of the traced passes of each file: arrays with one entry per file, sorted by file id."""

    file: Array
    read_s: Array
    bytes_read: Array
    storage_s: Array
    storage_bytes: Array
    sample: PassSample


@dataclass(frozen=True)
class PassSample:
    """The first passes that storage served: when each ended, in seconds, and its bytes."""

    end_s: Array
    size: Array


def pass_totals(process: ProcessData) -> PassTotals:
    """Sums up the passes that a process's segments show, row group by row group.

    A pass that lasts longer than a row group is judged in parts.

    Raises:
        SessionDataError: The table is damaged or missing.
    """
    capacity = 1024
    sums = np.zeros((4, capacity))
    ends: list[Array] = []
    sizes: list[Array] = []
    for file, end_s, values in _passes(process):
        if sum(map(len, ends)) < SAMPLED:
            slow = values[3] > 0
            ends.append(end_s[slow])
            sizes.append(values[1][slow])
        needed = int(file.max()) + 1
        if needed > capacity:
            capacity = max(needed, 2 * capacity)
            sums = np.pad(sums, ((0, 0), (0, capacity - sums.shape[1])))
        for row, weights in enumerate(values):
            sums[row] += np.bincount(file, weights=weights, minlength=capacity)
    found = np.flatnonzero(sums[1] > 0)
    sample = PassSample(np.concatenate([np.zeros(0), *ends]), np.concatenate([np.zeros(0), *sizes]))
    took, size, slow_s, slow_bytes = (row[found] for row in sums)
    return PassTotals(found.astype(np.uint32), took, size, slow_s, slow_bytes, sample)


def _passes(process: ProcessData) -> Iterator[tuple[Array, Array, list[Array]]]:
    """Yields each row group's passes: file ids; ends; time, bytes, storage time and storage bytes."""
    operations = _bridge.operations()
    for batch in process.batches("events", EVENT_COLUMNS):
        names = batch.column("operation").dictionary.to_pylist()
        classes = {operation.name: operation.io_class for operation in operations}
        code = batch.column("operation").indices.to_numpy()
        length = batch.column("length").to_numpy()
        reads = np.array([classes.get(name) == "read" for name in names], bool)[code] & (length > 0)
        opens = np.array([name in OPENING for name in names], bool)[code]
        kept = np.flatnonzero((reads | opens) & (batch.column("file").to_numpy() > 1))
        if not reads[kept].any():
            continue
        columns = {
            name: batch.column(name).to_numpy()[kept] for name in ("start_ns", "end_ns", "tid", "file")
        }
        order = np.lexsort((columns["tid"], columns["file"]))
        file, tid = columns["file"][order], columns["tid"][order]
        begins = np.r_[True, (np.diff(file.astype(np.int64)) != 0) | (np.diff(tid) != 0)]
        starts = np.flatnonzero(begins | opens[kept][order])
        moved = np.where(reads[kept], length[kept], 0)[order]
        seconds = np.where(reads[kept], columns["end_ns"] - columns["start_ns"], 0)[order] / 1e9
        calls, size, took = (
            np.add.reduceat(values, starts)
            for values in (reads[kept][order].astype(np.int64), moved, seconds)
        )
        slow = took > calls * CACHED_CALL_S + size * CACHED_S_PER_BYTE
        end_s = np.maximum.reduceat(columns["end_ns"][order], starts) / 1e9
        yield file[starts].astype(np.int64), end_s, [took, size, took * slow, size * slow]
