"""How often files were read: bytes read over file size, the number of epochs a local copy would serve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable


@dataclass(frozen=True)
class Rereads:
    """Bytes read over and over, of the files whose size is known.

    Attributes:
        files_read: Files of known size, not empty, that bytes were read from.
        files_reread: Of these, files that more bytes were read from than they have.
        size_bytes: Their sizes added up: what a copy would take.
        bytes_read: Bytes read from them.
        reread_bytes: Bytes read beyond each file's own size: what copies would save at least.
        passes: `bytes_read` over `size_bytes`; 0 where nothing was read.
        unknown_size_bytes: Bytes read from files of unknown size, in none of the above.
    """

    files_read: int
    files_reread: int
    size_bytes: int
    bytes_read: int
    reread_bytes: int
    passes: float
    unknown_size_bytes: int


def passes_by_file(files: FileTable) -> pd.Series[float]:
    """Gives bytes read over file size for every row of the file table; NaN where the size is unknown or 0."""
    size = files.rows["size_bytes"].to_numpy()
    return pd.Series(files.rows["bytes_read"].to_numpy() / np.where(size > 0, size, np.nan))


def rereads(files: FileTable) -> Rereads:
    """Adds up what was read once and what was read again."""
    size, moved = files.rows["size_bytes"].to_numpy(), files.rows["bytes_read"].to_numpy()
    known = (size > 0) & (moved > 0)
    total, taken = int(size[known].sum()), int(moved[known].sum())
    return Rereads(
        files_read=int(known.sum()),
        files_reread=int((moved[known] > size[known]).sum()),
        size_bytes=total,
        bytes_read=taken,
        reread_bytes=int(np.maximum(moved[known] - size[known], 0).sum()),
        passes=taken / total if total else 0.0,
        unknown_size_bytes=int(moved[size <= 0].sum()),
    )
