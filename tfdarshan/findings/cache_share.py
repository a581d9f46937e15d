"""What of the input the page cache served: by the kernel's figures, or by how long calls took."""

from __future__ import annotations

from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.storage_passes import CACHED_CALL_S
from tfdarshan.findings.measures import Measures

# From this share on it is all but everything.
SERVED = 0.9


def from_memory(measures: Measures, rows: Array) -> bool:
    """Says whether nearly all bytes of some files came from the page cache, so that storage slowed nothing.

    Args:
        measures: The session.
        rows: The files' rows of the file table.
    """
    costs, stored = measures.costs, measures.figures.stored_bytes
    read = float(costs.read_bytes[rows].sum())
    if stored is not None:
        return stored <= (1 - SERVED) * read
    slow = float(costs.slow_bytes[rows].sum())
    calls = float((costs.opens[rows] + costs.reads[rows]).sum())
    # A server may be slow at opens though the bytes are cached.
    return slow <= (1 - SERVED) * read and float(costs.other_s[rows].sum()) <= CACHED_CALL_S * calls
