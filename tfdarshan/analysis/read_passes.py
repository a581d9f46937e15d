"""First reading against later ones: what the page cache made of the second epoch."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array, group_order, union_ns
from tfdarshan.analysis.segments import READ, Segments

MOST_PASSES = 100


def read_passes(segments: Segments, files: FileTable) -> pd.DataFrame:
    """Splits the reads into passes over each file: a read is of pass n + 1 after n times the file's size.

    Reads of nothing and of files of unknown size are left out. An epoch that reads all files whole is a pass.

    Returns:
        One row per pass, from 1: `read_pass`, `files`, `reads`, `bytes`, `read_ns` (wall clock: at least one
        such read was running), `thread_ns` (summed over threads), `median_ns` of a read, all int64;
        `bytes_per_s` (float64), bytes over `thread_ns`: what one thread got. Passes beyond 100 are one.
    """
    chosen, number = numbered_reads(segments, files)
    rows = []
    for read_pass in np.flatnonzero(np.bincount(number)).tolist():
        places = chosen[number == read_pass]
        file = segments.file[places]
        places.sort()
        start, end = segments.start_ns[places], segments.end_ns[places]
        duration = end - start
        thread_ns, moved = int(duration.sum()), int(segments.length[places].sum())
        rows.append(
            (
                read_pass + 1,
                1 + int(np.count_nonzero(file[1:] != file[:-1])),
                len(places),
                moved,
                union_ns(start, end),
                thread_ns,
                int(np.median(duration)),
                moved / (thread_ns / 1e9) if thread_ns else 0.0,
            )
        )
    names = ["read_pass", "files", "reads", "bytes", "read_ns", "thread_ns", "median_ns", "bytes_per_s"]
    return pd.DataFrame(rows, columns=names)


def numbered_reads(segments: Segments, files: FileTable) -> tuple[Array, Array]:
    """Gives the places of the reads that count, file by file, and each one's pass, from 0 (uint8)."""
    size = np.maximum(files.rows["size_bytes"].to_numpy(), 0)
    chosen = np.flatnonzero((segments.io_class == READ) & (segments.length > 0) & (size[segments.file] > 0))
    chosen = chosen[group_order(segments.file[chosen], len(files))]
    file, length = segments.file[chosen], segments.length[chosen]
    before = np.cumsum(length) - length
    heads = np.flatnonzero(np.concatenate([[True], file[1:] != file[:-1]]))[: len(file)]
    before -= np.repeat(before[heads], np.diff(np.append(heads, len(file))))
    return chosen, np.minimum(before // size[file], MOST_PASSES - 1).astype(np.uint8)
