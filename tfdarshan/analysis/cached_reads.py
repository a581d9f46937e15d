"""Reads that storage served against those that the page cache did, judged by how long they took.

The kernel's figures say it of a whole process only (`storage_share`). A read counts as served by the page
cache where it took no longer than copying from memory would, with room for a busy machine; of a file read in
small pieces the kernel's read-ahead makes most reads quick, so this is a bound for single reads, no proof.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.read_passes import numbered_reads
from tfdarshan.analysis.segments import READ, Segments
from tfdarshan.analysis.step_windows import StepWindows

CACHED_CALL_S = 100e-6
CACHED_S_PER_BYTE = 1 / 500e6
COLUMNS = ("reads", "bytes", "cached_bytes", "thread_s", "cached_thread_s")


def from_cache(duration_ns: Array, length: Array) -> Array:
    """Says which reads the page cache can have served, bool."""
    quick: Array = duration_ns <= 1e9 * CACHED_CALL_S + 1e9 * CACHED_S_PER_BYTE * length
    return quick


def cached_by_step(segments: Segments, windows: StepWindows) -> pd.DataFrame:
    """Gives the split of the reads that began in each step.

    Returns:
        One row per step, in order of time: `reads`, `bytes`, of which `cached_bytes` (int64); `thread_s`, the
        reads' durations added up, of which `cached_thread_s` (float64).
    """
    reads = np.flatnonzero((segments.io_class == READ) & (segments.length > 0))
    start = segments.start_ns[reads]
    step = np.searchsorted(windows.start_ns, start, side="right") - 1
    inside = (step >= 0) & (start < windows.end_ns[np.maximum(step, 0)])
    return _split(segments, reads[inside], step[inside], len(windows.start_ns), "step")


def cached_by_epoch(segments: Segments, files: FileTable) -> pd.DataFrame:
    """Gives the split of the reads of each pass over the files: an epoch that reads all files whole is one.

    Returns:
        As `cached_by_step`, with one row per pass, from 1.
    """
    reads, number = numbered_reads(segments, files)
    table = _split(segments, reads, number.astype(np.int64), int(number.max(initial=0)) + 1, "epoch")
    table.index = pd.RangeIndex(1, len(table) + 1, name="epoch")
    return table[table["reads"] > 0]


def _split(segments: Segments, reads: Array, group: Array, groups: int, name: str) -> pd.DataFrame:
    length = segments.length[reads]
    duration = segments.end_ns[reads] - segments.start_ns[reads]
    cached = from_cache(duration, length)
    weights = (None, length, length * cached, duration / 1e9, duration * cached / 1e9)
    columns = {}
    for column, weight in zip(COLUMNS, weights, strict=True):
        summed = np.bincount(group, weight, minlength=groups)
        columns[column] = summed if column.endswith("_s") else summed.astype(np.int64)
    return pd.DataFrame(columns, index=pd.RangeIndex(groups, name=name))
