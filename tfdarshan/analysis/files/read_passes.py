"""First reading against later ones: what the page cache made of the second epoch."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array, group_order
from tfdarshan.analysis.calls.segments import READ, Blocks, Segments
from tfdarshan.analysis.files.file_table import FileTable

MOST_PASSES = 100


def read_passes(blocks: Blocks, files: FileTable) -> pd.DataFrame:
    """Split the reads into passes over each file: a read is of pass n + 1 after n times the file's size.

    Reads of nothing and of files of unknown size are left out. An epoch that reads all files whole is a pass.

    Args:
        blocks: Gives the session's calls in order of start, block by block.
        files: The files of the table that they were loaded with.

    Returns:
        One row per pass, from 1: `read_pass`, `bytes`, `thread_ns` (summed over threads), int64;
        `bytes_per_s` (float64), bytes over `thread_ns`: what one thread got. Passes beyond 100 are one.
    """
    size = np.maximum(files.rows["size_bytes"].to_numpy(), 0)
    read, sums = np.zeros(len(size), np.int64), np.zeros((2, MOST_PASSES), np.int64)
    for block in blocks():
        places = np.flatnonzero((block.io_class == READ) & (block.length > 0) & (size[block.file] > 0))
        reads = block.where(places[group_order(block.file[places], len(size))])
        number = _passes(reads, size, read)
        for row, values in zip(sums, (reads.length, reads.end_ns - reads.start_ns), strict=True):
            np.add.at(row, number, values)
    moved, thread_ns = sums
    table = pd.DataFrame({"read_pass": np.arange(MOST_PASSES) + 1, "bytes": moved, "thread_ns": thread_ns})
    table["bytes_per_s"] = np.divide(moved, thread_ns / 1e9, out=np.zeros(MOST_PASSES), where=thread_ns > 0)
    return table[moved > 0].reset_index(drop=True)


def _passes(reads: Segments, size: Array, read: Array) -> Array:
    """Return the pass of each of some reads, which are in order of their files, and add them to `read`."""
    file, length = reads.file, reads.length
    heads = np.flatnonzero(np.concatenate([[True], file[1:] != file[:-1]]))[: len(file)]
    before = np.cumsum(length) - length
    before -= np.repeat(before[heads] - read[file[heads]], np.diff(np.append(heads, len(file))))
    np.add.at(read, file, length)
    return np.minimum(before // size[file], MOST_PASSES - 1)
