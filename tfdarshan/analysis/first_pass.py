"""When the input was read through for the first time: what steps wait later, a copy in memory may save."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments
from tfdarshan.analysis.step_windows import StepWindows

# The last bytes of a pass may be of files that are read in part.
THROUGH = 0.99


def first_pass_ends_ns(segments: Segments, reads: Array, input_bytes: float) -> int | None:
    """Gives when as many bytes were read as the input has; None if so many never were.

    Args:
        segments: The session's calls.
        reads: Places of the reads of input, in order of time.
        input_bytes: Its bytes, each once.
    """
    reached = np.cumsum(segments.length[reads], dtype=np.float64)
    at = int(np.searchsorted(reached, THROUGH * input_bytes))
    return int(segments.end_ns[reads[at]]) if at < len(reads) else None


def waited_after_s(windows: StepWindows, at_ns: int) -> float | None:
    """Gives what steps that begin after some time wait, in seconds; None where steps do not say."""
    if windows.wait_end_ns is None:
        return None
    return float((windows.wait_end_ns - windows.start_ns)[windows.start_ns >= at_ns].sum()) / 1e9
