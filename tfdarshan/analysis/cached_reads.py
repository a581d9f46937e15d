"""Reads that storage served against those that the page cache did, step by step and epoch by epoch.

The kernel's figures say it of a whole process only (`storage_share`), `storage_passes` of single reads.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.call_kinds import kinds_of
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.read_passes import numbered_reads
from tfdarshan.analysis.segments import READ, Segments
from tfdarshan.analysis.step_windows import StepWindows
from tfdarshan.analysis.storage_passes import from_storage, passes_of, read_ahead

COLUMNS = ("reads", "bytes", "cached_bytes", "thread_s", "cached_thread_s")


def from_cache(segments: Segments, files: FileTable) -> Array:
    """Says of each call whether it is of a pass that the page cache can have served, bool."""
    kind = kinds_of(segments)
    reads: Array = (segments.io_class == READ) & (segments.length > 0)
    moved = np.where(reads, segments.length, 0)
    size = files.rows["size_bytes"].to_numpy()[segments.file]
    order, first = passes_of((segments.file.astype(np.int64) << 32) | segments.thread, kind, moved, size)
    if not len(first):
        return reads
    taken_s = np.where(reads, segments.end_ns - segments.start_ns, 0) / 1e9
    slow = reads & from_storage(np.ones(len(reads)), moved, taken_s)
    calls, moved, read_s, slow_calls, slow_s = (
        np.add.reduceat(values[order], first)
        for values in (reads.astype(np.int64), moved, taken_s, slow.astype(np.int64), taken_s * slow)
    )
    stored = from_storage(calls, moved, read_s) | read_ahead(slow_calls, slow_s, moved, read_s)
    cached: Array = np.zeros(len(segments), bool)
    cached[order] = np.repeat(~stored, np.diff(np.append(first, len(order))))
    return cached


def cached_by_step(segments: Segments, files: FileTable, windows: StepWindows) -> pd.DataFrame:
    """Gives the split of the reads that began in each step.

    Returns:
        One row per step, in order of time: `reads`, `bytes`, of which `cached_bytes` (int64); `thread_s`, the
        reads' durations added up, of which `cached_thread_s` (float64).
    """
    reads = np.flatnonzero((segments.io_class == READ) & (segments.length > 0))
    start = segments.start_ns[reads]
    step = np.searchsorted(windows.start_ns, start, side="right") - 1
    inside = (step >= 0) & (start < windows.end_ns[np.maximum(step, 0)])
    return _split(segments, files, reads[inside], step[inside], len(windows.start_ns), "step")


def cached_by_epoch(segments: Segments, files: FileTable) -> pd.DataFrame:
    """Gives the split of the reads of each pass over the files: an epoch that reads all files whole is one.

    Returns:
        As `cached_by_step`, with one row per pass, from 1.
    """
    reads, number = numbered_reads(segments, files)
    epochs = int(number.max(initial=0)) + 1
    table = _split(segments, files, reads, number.astype(np.int64), epochs, "epoch")
    table.index = pd.RangeIndex(1, len(table) + 1, name="epoch")
    return table[table["reads"] > 0]


def _split(
    segments: Segments, files: FileTable, reads: Array, group: Array, groups: int, name: str
) -> pd.DataFrame:
    length = segments.length[reads]
    duration = segments.end_ns[reads] - segments.start_ns[reads]
    cached = from_cache(segments, files)[reads]
    weights = (None, length, length * cached, duration / 1e9, duration * cached / 1e9)
    columns = {}
    for column, weight in zip(COLUMNS, weights, strict=True):
        summed = np.bincount(group, weight, minlength=groups)
        columns[column] = summed if column.endswith("_s") else summed.astype(np.int64)
    return pd.DataFrame(columns, index=pd.RangeIndex(groups, name=name))
