"""Parts of a training: its epochs where the session shows them, else its steps up to a longer break.

Steps say which epoch they are of if an iterator or Keras does. Else epochs are told where the input was read
a whole number of times and the steps come in as many parts of one length: parts between breaks, or, if
nothing breaks them, equal parts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.reports.figures.time_marks import Band

# A break is longer than so many steps, and than so many of the times that usually lie between two steps.
BREAK_STEPS, BREAK_GAPS = 3, 10
WHOLE_WITHIN = 0.02
MOST_BANDS = 100


def epoch_bands(steps: pd.DataFrame, passes: float | None) -> list[Band]:
    """Return the parts in order of time; none without steps.

    Args:
        steps: What `analysis.step_time` gives.
        passes: How often the input was read, None if unknown.
    """
    if len(steps) == 0:
        return []
    steps = steps.sort_values("start_ns", kind="stable")
    if "epoch" in steps and (steps["epoch"] > 0).all():
        parts = [part for _, part in steps.groupby("epoch")][:MOST_BANDS]
        return [_band(part, int(part["epoch"].iloc[0])) for part in parts]
    cuts = [0, *_breaks(steps), len(steps)]
    epochs = round(passes) if passes and abs(passes - round(passes)) <= WHOLE_WITHIN * passes else 0
    if len(cuts) == 2 and epochs > 1:
        cuts = _unbroken(steps, epochs)
    if len(cuts) > MOST_BANDS:
        cuts = [0, len(steps)]
    are_epochs = len(cuts) == epochs + 1 and _alike(cuts)
    bounds = enumerate(pairwise(cuts), 1)
    return [_band(steps.iloc[first:end], number if are_epochs else None) for number, (first, end) in bounds]


def bands_within(bands: list[Band], window_ns: tuple[int, int]) -> list[Band]:
    """Return the bands that a window shows."""
    return [band for band in bands if band.start_ns < window_ns[1] and band.end_ns > window_ns[0]]


def _alike(cuts: list[int]) -> bool:
    """Return whether parts have the same number of steps; a last batch may be one more."""
    return bool(np.ptp(np.diff(cuts)) <= 1)


def _unbroken(steps: pd.DataFrame, epochs: int) -> list[int]:
    """Parts steps that follow one another: where one lasts long and what is before and after it is alike.

    A step that ends where the next begins has the break between two epochs in it, at its end or, if it is
    the wait for the next epoch's first batch, at its beginning. Else only an equal division is one.
    """
    lasted = (steps["end_ns"] - steps["start_ns"]).to_numpy(np.int64)
    longest = np.sort(1 + np.argsort(-lasted[1:], kind="stable")[: epochs - 1])
    if bool((lasted[longest] > BREAK_STEPS * float(np.median(lasted))).all()):
        for after in (1, 0):
            cuts = [0, *(longest + after).tolist(), len(steps)]
            if _alike(cuts):
                return cuts
    if len(steps) % epochs == 0:
        return list(range(0, len(steps) + 1, len(steps) // epochs))
    return [0, len(steps)]


def _breaks(steps: pd.DataFrame) -> list[int]:
    """Return the places of steps that begin after a break."""
    start, end = steps["start_ns"].to_numpy(np.int64), steps["end_ns"].to_numpy(np.int64)
    gaps: Array = start[1:] - end[:-1]
    if len(gaps) == 0:
        return []
    least = max(BREAK_STEPS * float(np.median(end - start)), BREAK_GAPS * float(np.median(gaps)))
    places: list[int] = (1 + np.flatnonzero(gaps > least)).tolist()
    return places


def _band(part: pd.DataFrame, epoch: int | None) -> Band:
    first, last = int(part.index[0]), int(part.index[-1])
    steps = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
    start, end = int(part["start_ns"].iloc[0]), int(part["end_ns"].max())
    if epoch is None:
        return Band(steps, "", steps, first, last, start, end)
    return Band(f"epoch {epoch:,}", f"{epoch:,}", steps, first, last, start, end)
