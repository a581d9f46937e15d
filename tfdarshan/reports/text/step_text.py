"""Words the time of a step."""

from __future__ import annotations

from tfdarshan.analysis.steps.step_time import StepLength
from tfdarshan.units import human_seconds


def length_words(length: StepLength) -> str:
    """Return the median, and the longest if that is another: "55.1 ms (median; the longest 806.3 ms)"."""
    median, longest = human_seconds(length.median_s), human_seconds(length.longest_s)
    return median if median == longest else f"{median} (median; the longest {longest})"
