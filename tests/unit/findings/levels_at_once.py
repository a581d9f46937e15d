"""Queue depths of calls that are in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls import queue_depth
from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.native.input_sums import Depths, InputCalls


def depth_levels(start_ns: Array, end_ns: Array, length: Array) -> pd.DataFrame:
    """Return the levels of reads."""
    sums, place = Depths(), np.zeros(len(start_ns), np.int32)
    kind = np.full(len(start_ns), KIND["read"], np.uint8)
    sums.add(InputCalls(start_ns, end_ns, length=length, file=place, thread=place, kind=kind))
    return queue_depth.depth_levels(sums)
