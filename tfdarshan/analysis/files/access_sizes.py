"""Sizes of reads and writes, and of files, in Darshan's buckets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.file_totals import FileTotals

SIZE_BUCKETS = (
    ("0_100", "1 - 100 B"),
    ("100_1K", "101 B - 1 KiB"),
    ("1K_10K", "1 - 10 KiB"),
    ("10K_100K", "10 - 100 KiB"),
    ("100K_1M", "100 KiB - 1 MiB"),
    ("1M_4M", "1 - 4 MiB"),
    ("4M_10M", "4 - 10 MiB"),
    ("10M_100M", "10 - 100 MiB"),
    ("100M_1G", "100 MiB - 1 GiB"),
    ("1G_PLUS", "over 1 GiB"),
)

# Upper limits of all buckets but the last, in bytes, that size itself included; empty ones come first.
# Source: DARSHAN_BUCKET_INC of darshan-common.h.
UPPER_LIMITS = (0, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
SIZE_LABELS = ("0 B", *(label for _, label in SIZE_BUCKETS))


@dataclass(frozen=True)
class SizeBucket:
    """One bucket of the access-size histograms, by Darshan's limits; reads of nothing have their own."""

    label: str
    reads: int
    writes: int


def access_sizes(files: FileTotals) -> list[SizeBucket]:
    """Return the histogram of the POSIX module's reads and writes; the buckets add up to all of them.

    Source: POSIX_SIZE_READ_0_100 and the like. Their first bucket holds empty reads too, which get a bucket
    of their own here where the session tells them apart.
    """
    zero = files.posix_zero_reads
    buckets = [] if zero is None else [SizeBucket("0 B", zero, 0)]
    for suffix, label in SIZE_BUCKETS:
        reads, writes = files.sums[f"POSIX_SIZE_READ_{suffix}"], files.sums[f"POSIX_SIZE_WRITE_{suffix}"]
        if suffix == "0_100":
            label = label if zero is not None else "0 - 100 B"
            reads -= zero or 0
        buckets.append(SizeBucket(label, reads, writes))
    return buckets


def file_sizes(files: FileTable) -> pd.DataFrame:
    """Return the histogram of file sizes.

    Returns:
        One row per bucket, from empty files on, then "unknown": `size` (its label); `files_read`,
        `files_written`, `files` with data read or written, or neither (int64; the last adds up to all files);
        `bytes_read`, `bytes_written` of these files (int64, bytes).
    """
    rows = files.rows[files.rows["path"].str.startswith("/")]
    size = rows["size_bytes"].to_numpy()
    bucket = np.where(size < 0, len(SIZE_LABELS), np.searchsorted(np.array(UPPER_LIMITS), size))
    labels = [*SIZE_LABELS, "unknown"]

    def added(weight: pd.Series) -> Array:
        return np.bincount(bucket, weight.to_numpy(), minlength=len(labels)).astype(np.int64)

    return pd.DataFrame(
        {
            "size": labels,
            "files_read": added(rows["reads"] > 0),
            "files_written": added(rows["writes"] > 0),
            "files": np.bincount(bucket, minlength=len(labels)).astype(np.int64),
            "bytes_read": added(rows["bytes_read"]),
            "bytes_written": added(rows["bytes_written"]),
        }
    )
