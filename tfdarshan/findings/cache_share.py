"""What of the input the page cache served: by the kernel's figures, or by how long calls took."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.cached_reads import CACHED_CALL_S
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.measures import Measures

# From this share on it is all but everything.
SERVED = 0.9
BLOCK_FILE_SYSTEMS = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"))


def stored_bytes(measures: Measures) -> int | None:
    """Gives what the kernel fetched from storage; None where it does not count the input's file systems."""
    if measures.summary.emulation is not None or not _on_block_devices(measures):
        return None
    return measures.summary.coverage.read.storage


def from_memory(measures: Measures, rows: Array) -> bool:
    """Says whether nearly all bytes of some files came from the page cache, so that storage slowed nothing.

    Args:
        measures: The session.
        rows: The files' rows of the file table.
    """
    costs, stored = measures.costs, stored_bytes(measures)
    read = float(costs.read_bytes[rows].sum())
    if stored is not None:
        return stored <= (1 - SERVED) * read
    slow = float(costs.slow_bytes[rows].sum())
    calls = float((costs.opens[rows] + costs.reads[rows]).sum())
    # A server may be slow at opens though the bytes are cached.
    return slow <= (1 - SERVED) * read and float(costs.other_s[rows].sum()) <= CACHED_CALL_S * calls


def _on_block_devices(measures: Measures) -> bool:
    """Says whether the input is on file systems whose storage the kernel counts."""
    kinds = measures.files.rows["fs_type"].cat
    used = np.unique(kinds.codes.to_numpy()[measures.costs.read_bytes > 0])
    return {str(kinds.categories[code]) for code in used.tolist()} <= BLOCK_FILE_SYSTEMS
