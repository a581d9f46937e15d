"""The few files that give nearly all of what many give: where staging begins.

Files are taken by the seconds that they save per byte. The beginning of that order, up to where a byte saves
less than on average, is the small set if it saves most of the seconds, the bytes behind it save far less
each, and an epoch with these staged, too, would be hardly shorter.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.staging.expectation import Expectation

# The small set saves this share of what all of the chosen save ...
MOST = 0.7
# ... a byte of it so many times what a byte of the rest does ...
TIMES_AS_MUCH = 10.0
# ... and an epoch with it is at most so many times as long as with all.
AS_SHORT = 1.1


def small_set(value: Array, weight: Array, order: Array) -> Array | None:
    """Gives the small set among some items by their seconds, sorted; None where each of them counts.

    Args:
        value: What each item saves.
        weight: Bytes of each item.
        order: The items that were chosen, the most value per weight first.
    """
    if len(order) < 2:
        return None
    saved = np.cumsum(value[order], dtype=np.float64)
    filled = np.cumsum(np.maximum(weight[order], 1e-9), dtype=np.float64)
    saved, filled = saved / saved[-1], filled / filled[-1]
    last = int(np.argmax(saved - filled))
    share, part = float(saved[last]), float(filled[last])
    if share < MOST or last + 1 == len(order):
        return None
    if share / part < TIMES_AS_MUCH * (1 - share) / (1 - part):
        return None
    return np.sort(order[: last + 1])


def is_enough(small: Expectation, everything: Expectation) -> bool:
    """Says whether an epoch with the small set is about as short as with everything.

    Single files take more or less by chance: where of them alone nothing is certain, and of everything
    something is, they are not enough.
    """
    left_s = everything.epoch_s - everything.saved_s
    as_certain = small.low_s > 0 or everything.low_s <= 0
    return as_certain and small.epoch_s - small.saved_s <= AS_SHORT * left_s
