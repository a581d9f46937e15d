"""Holds a session against files that tf.io.read_file read whole, a known number of times each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .images import ImageFile


def check_reads(rows: pd.DataFrame, files: Sequence[ImageFile], times: int) -> list[str]:
    """Return what differs, one sentence each; nothing when the session is exact.

    Args:
        rows: Rows of `session.files`, those of `files` only.
        files: Files under 1 MiB, so that each is one read with data and an empty one.
        times: How often each was read.
    """
    columns = ["POSIX_OPENS", "POSIX_READS", "TFD_ZERO_READS", "POSIX_BYTES_READ"]
    posix = rows[rows["module"] == "POSIX"].groupby("path")[columns].sum()
    problems = []
    for file in files:
        expected = [times, 2 * times, times, file.size_bytes * times]
        path = str(file.path)
        counted = [int(value) for value in posix.loc[path]] if path in posix.index else [0, 0, 0, 0]
        if counted != expected:
            problems.append(f"{path}: {_worded(counted)}, not {_worded(expected)}")
    return problems


def _worded(counts: Sequence[int]) -> str:
    return "{:,} opens, {:,} reads, {:,} zero-length, {:,} bytes".format(*counts)
