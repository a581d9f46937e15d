"""What steps waited after the input had been read through once: a copy in memory may save that."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.step_windows import StepWindows


def waited_after_s(windows: StepWindows, at_ns: int, ready_s: float = 0.0) -> float | None:
    """Gives what steps that begin after some time wait, in seconds; None where steps do not say.

    Args:
        windows: The steps.
        at_ns: The time.
        ready_s: What of each one's wait is none: a ready batch takes so long, too.
    """
    if windows.wait_end_ns is None:
        return None
    waited_s = (windows.wait_end_ns - windows.start_ns)[windows.start_ns >= at_ns] / 1e9
    return float(np.maximum(waited_s - ready_s, 0).sum())
