"""Moments in which storage was slow for whatever was read: what tells a slow file from a slow time."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.thresholds import THRESHOLD

# Of so many calls that began one after the other, so many were slow, and as many files were read.
NEIGHBOURS = int(THRESHOLD["neighbours"])
FEWEST = THRESHOLD["several"]
# Windows handled at a time.
BLOCK = 1 << 20


def slow_moments(file: Array, slow: Array) -> Array:
    """Says which slow calls were slow beside others of other files, bool.

    Args:
        file: What each call is on, in order of start.
        slow: Which calls were slow, bool.
    """
    count = len(file)
    found = np.zeros(count, bool)
    if count < NEIGHBOURS:
        return found
    reached = np.concatenate([[0], np.cumsum(slow)])
    windows = np.flatnonzero(reached[NEIGHBOURS:] - reached[:-NEIGHBOURS] >= FEWEST)
    for first in range(0, len(windows), BLOCK):
        calls = windows[first : first + BLOCK, None] + np.arange(NEIGHBOURS)
        files = np.sort(np.where(slow[calls], file[calls], -1), axis=1)
        others = ((files[:, 1:] != files[:, :-1]) & (files[:, 1:] >= 0)).sum(axis=1) + (files[:, 0] >= 0)
        found[calls[others >= FEWEST]] = True
    result: Array = found & slow
    return result
