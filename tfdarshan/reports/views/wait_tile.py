"""The tile of how long steps waited for input."""

from __future__ import annotations

from tfdarshan.analysis.steps.step_time import StepSummary
from tfdarshan.reports.views.panel import Tile, duration
from tfdarshan.units import human_seconds


def wait_tile(whole: StepSummary, note: str) -> Tile:
    """Return the tile: the wait on the GPU's clock beside the CPU's, or the CPU's alone.

    Args:
        whole: All steps together.
        note: The wait's share of step time.
    """
    if whole.cpu_wait_s is not None:
        note += f", on the GPU; the CPU waited {human_seconds(whole.cpu_wait_s)}"
    return Tile("Input wait", duration(whole.input_wait_s), note)
