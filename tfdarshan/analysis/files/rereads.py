"""How often files were read: bytes read over file size, the number of epochs a local copy would serve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import FileTable


@dataclass(frozen=True)
class Rereads:
    """Bytes read over and over, of the files whose size is known.

    Attributes:
        size_bytes: Their sizes added up: what a copy would take.
        bytes_read: Bytes read from them.
        unique_bytes: What was read, each byte once: no more of a file than a pass over it moves, or its size.
        passes: All bytes read over `unique_bytes`; 0 where nothing was read.
        unknown_size_bytes: Bytes read from files of unknown size, in none of the above.
        placed: Whether all reads say where they lie. Else a part of a file may have been read more often.
    """

    size_bytes: int
    bytes_read: int
    unique_bytes: int
    passes: float
    unknown_size_bytes: int
    placed: bool = False

    @property
    def all_bytes_read(self) -> int:
        """Bytes read from files of known size and of unknown."""
        return self.bytes_read + self.unknown_size_bytes


def epochs_of(files: FileTable, chosen: Array) -> float:
    """Return the epochs of a job: the median, over some files that were read, of how often each was.

    A file of which all was read counts by its bytes, however often it was opened meanwhile; one of which a
    part was read, or of unknown size, by its opens.

    Args:
        files: The files.
        chosen: Which of them count, a mask or places.
    """
    rows = files.rows
    size, read, opens = (rows[name].to_numpy()[chosen] for name in ("size_bytes", "bytes_read", "opens"))
    used = read > 0
    return median_epochs(times_read(size[used], read[used], opens[used]))


def times_read(size_bytes: Array, bytes_read: Array, opens: Array) -> Array:
    """Return how often files were read, as `epochs_of` counts it, at least once."""
    whole = bytes_read / np.maximum(size_bytes, 1)
    return np.where((size_bytes > 0) & (whole >= 1), whole, np.maximum(opens, 1))


def median_epochs(times: Array) -> float:
    """Return the median, a whole number of at least 1."""
    return max(1.0, float(np.round(np.median(times)))) if len(times) else 1.0


def rereads(
    files: FileTable, chosen: Array | slice = slice(None), pass_bytes: Array | None = None
) -> Rereads:
    """Add up what was read once and what was read again.

    Args:
        files: The files.
        chosen: Which of them count, a mask or places; all by default.
        pass_bytes: What a pass over each file moves, by row, 0 where unknown; None: unknown of all.
    """
    size, moved = (files.rows[name].to_numpy()[chosen] for name in ("size_bytes", "bytes_read"))
    known = (size > 0) & (moved > 0)
    total, taken = int(size[known].sum()), int(moved[known].sum())
    once = np.where(size > 0, np.minimum(moved, size), moved)
    placed = np.zeros(len(moved), bool)
    if pass_bytes is not None:
        part = np.rint(pass_bytes[chosen]).astype(np.int64)
        placed = part > 0
        once = np.where(placed, np.minimum(once, part), once)
    unique = int(once.sum())
    return Rereads(
        size_bytes=total,
        bytes_read=taken,
        unique_bytes=unique,
        passes=int(moved.sum()) / unique if unique else 0.0,
        unknown_size_bytes=int(moved[size <= 0].sum()),
        placed=bool(placed[moved > 0].all()),
    )
