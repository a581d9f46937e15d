"""What the first epoch waited for input, and what later ones did: their mean is true of neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.thresholds import THRESHOLD

# Later epochs hardly wait with such a part of the first one's share.
HARDLY = THRESHOLD["hardly"]


@dataclass(frozen=True)
class EpochWaits:
    """Share of step time that waits for input, 0 to 1: of epoch `first` of a session, and of later ones."""

    first: int
    first_share: float
    later_share: float

    @property
    def later_hardly_wait(self) -> bool:
        """Whether the first epoch alone waits."""
        return self.later_share <= HARDLY * self.first_share


def epoch_waits(windows: StepWindows | None, first_pass_ends_ns: int | None) -> EpochWaits | None:
    """Return what the first epoch and later ones wait; None of one epoch, or if it is unknown.

    Args:
        windows: The steps.
        first_pass_ends_ns: When the input had been read through once, if it was read again: that ends the
            first epoch where no step says which one it is of.
    """
    if windows is None or windows.wait_end_ns is None:
        return None
    epoch = _epochs(windows, first_pass_ends_ns)
    if not (epoch > 0).any():
        return None
    number = int(epoch[epoch > 0].min())
    first, later = epoch == number, epoch > number
    if not later.any():
        return None
    waited_ns, lasted_ns = windows.wait_end_ns - windows.start_ns, windows.end_ns - windows.start_ns
    shares = [float(waited_ns[part].sum() / max(lasted_ns[part].sum(), 1)) for part in (first, later)]
    return EpochWaits(number, *shares)


def _epochs(windows: StepWindows, first_pass_ends_ns: int | None) -> Array:
    """Return the epoch of each step: by its iterator, by Keras, or by files that are read again."""
    if windows.epoch is not None:
        return windows.epoch
    if first_pass_ends_ns is None:
        return np.full(len(windows.start_ns), -1)
    return 1 + (windows.start_ns >= first_pass_ends_ns)
