"""What of the input the page cache served: by the kernel's figures, or by how long calls took."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.storage.storage_passes import CACHED_CALL_S
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD

SERVED, SLOW_OPEN_S = THRESHOLD["cached"], THRESHOLD["slow open"]


def from_memory(measures: Measures, rows: Array) -> bool:
    """Return whether nearly all bytes of some files came from the page cache, so that storage slowed nothing.

    Args:
        measures: The session.
        rows: The files' rows of the file table.
    """
    costs, stored = measures.costs, measures.figures.stored_bytes
    read = float(costs.read_bytes[rows].sum())
    if opens_take_long(measures, rows):
        return False
    if stored is not None:
        return stored <= (1 - SERVED) * read
    slow = float(costs.slow_bytes[rows].sum())
    calls = float((costs.opens[rows] + costs.reads[rows]).sum())
    return slow <= (1 - SERVED) * read and float(costs.other_s[rows].sum()) <= CACHED_CALL_S * calls


def opens_take_long(measures: Measures, rows: Array) -> bool:
    """Return whether a server is slow to open some files, though memory may have their bytes."""
    costs = measures.costs
    beyond_s = np.maximum(costs.other_s[rows] - costs.stat_s[rows] - SLOW_OPEN_S * costs.opens[rows], 0)
    return float(beyond_s.sum()) > (1 - SERVED) * float(costs.call_s[rows].sum())
