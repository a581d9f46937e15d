"""Whether storage paces its reads: a limit refills while a reader works, so that its next read waits less.

A read that waits for storage itself takes as long whatever its reader did before. If a limit lets it pass
once its share of the rate has come together, it takes as much less as its reader worked longer before it.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.thresholds import THRESHOLD

FEWEST, HUNG = THRESHOLD["many"], THRESHOLD["hung"]
# Standard errors beyond which a slope is another one than the one that was measured.
ERRORS = THRESHOLD["certain"]


def is_paced(start_s: Array, end_s: Array, length: Array, chosen: Array) -> bool | None:
    """Return whether reads are as much shorter as their reader worked longer before them.

    Args:
        start_s: Starts of reads that storage served, ascending, in seconds.
        end_s: Their ends.
        length: Their bytes.
        chosen: Those that tell, bool: what the kernel reads ahead meanwhile is shorter, too.

    Returns:
        None if neither this nor that they take as long whatever was before is out of the question, or both.
    """
    rest_s = start_s[1:] - np.maximum.accumulate(end_s)[:-1]
    taken_s = (end_s - start_s)[1:]
    # A longer rest than a read takes spares no more than all of that read.
    tell = chosen[1:] & (rest_s > 0)
    tell &= rest_s <= np.median(taken_s[tell]) if tell.any() else tell
    if np.count_nonzero(tell) < FEWEST:
        return None
    usual_s = np.median(taken_s[tell])
    slope, error = _slope(rest_s[tell], length[1:][tell], np.minimum(taken_s[tell], HUNG * usual_s))
    low, high = slope - ERRORS * error, slope + ERRORS * error
    paced, waits = low <= -1 <= high, high >= 0
    return None if paced == waits else paced


def _slope(rest_s: Array, length: Array, taken_s: Array) -> tuple[float, float]:
    """Return by how much reads of one length take longer for each second of rest, and its standard error."""
    columns = [np.ones(len(rest_s)), rest_s - rest_s.mean()]
    if np.ptp(length):
        columns.append(length / length.max())
    design = np.stack(columns, axis=1)
    inverse = np.linalg.pinv(design.T @ design)
    found = inverse @ (design.T @ taken_s)
    left_s = taken_s - design @ found
    error = np.sqrt(inverse[1, 1] * (left_s @ left_s) / max(len(taken_s) - design.shape[1], 1))
    return float(found[1]), float(error)
