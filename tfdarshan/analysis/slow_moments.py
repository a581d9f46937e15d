"""Moments in which storage was slow for whatever was read: what tells a slow file from a slow time."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array

# Of so many calls that began one after the other, so many were slow, and as many files were read.
NEIGHBOURS = 5
FEWEST = 3


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
    windows = np.lib.stride_tricks.sliding_window_view
    slow_calls = windows(slow, NEIGHBOURS).sum(axis=1)
    files = np.sort(windows(np.where(slow, file, -1), NEIGHBOURS), axis=1)
    others = ((files[:, 1:] != files[:, :-1]) & (files[:, 1:] >= 0)).sum(axis=1) + (files[:, 0] >= 0)
    of_the_time = (slow_calls >= FEWEST) & (others >= FEWEST)
    for place in range(NEIGHBOURS):
        found[place : count - NEIGHBOURS + 1 + place] |= of_the_time
    result: Array = found & slow
    return result
