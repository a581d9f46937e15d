"""What steps waited after the input had been read through once: a copy in memory may save that."""

from __future__ import annotations

from tfdarshan.analysis.step_windows import StepWindows


def waited_after_s(windows: StepWindows, at_ns: int) -> float | None:
    """Gives what steps that begin after some time wait, in seconds; None where steps do not say."""
    if windows.wait_end_ns is None:
        return None
    return float((windows.wait_end_ns - windows.start_ns)[windows.start_ns >= at_ns].sum()) / 1e9
