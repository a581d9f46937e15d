"""Sizes of the files that were read and written, in Darshan's buckets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.access_sizes import SIZE_LABELS, size_bucket
from tfdarshan.analysis.files.file_table import FileTable


def file_sizes(files: FileTable) -> pd.DataFrame:
    """Gives the histogram of file sizes.

    Returns:
        One row per bucket, from empty files on, then "unknown": `size` (its label); `files_read`,
        `files_written`, `files` with data read or written, or neither (int64; the last adds up to all files);
        `bytes_read`, `bytes_written` of these files (int64, bytes).
    """
    rows = files.rows[files.rows["path"].str.startswith("/")]
    size = rows["size_bytes"].to_numpy()
    bucket = np.where(size < 0, len(SIZE_LABELS), size_bucket(size))
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
