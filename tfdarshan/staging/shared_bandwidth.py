"""Tells a tier whose threads queue for its bandwidth from one whose threads wait each for itself.

On a pipe that one thread can fill, a pass takes as long as its own bytes and those of the passes that run
with it. Fitted pass by pass, the others' share looks like a price per file, and small files look worth more
than they are. What the tier gives in a stretch of time shows the difference: on a pipe, stretches in which
more bytes came took longer; where only latency counts, they did not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdarshan.analysis.storage_passes import PassSample
from tfdarshan.analysis.time_model import TimeModel, median_slope

Array = Any

MOST_STRETCHES = 200
FEWEST_STRETCHES = 12
FEWEST_PASSES = 8
# Rank correlation of bytes and time from which on it is none by chance, in its standard errors.
CERTAIN = 2.2
# The slopes of threads that wait for themselves are equal; noise is not to move the model.
STEEPER = 1.5


def with_shared_bandwidth(model: TimeModel, samples: Sequence[PassSample], readers: float) -> TimeModel:
    """Gives the model with the price per byte that all readers pay together, where they share the bandwidth.

    The sum over all files stays what it was.

    Args:
        model: Fitted pass by pass.
        samples: Passes of each session with segments.
        readers: Threads that read.
    """
    sample = max(samples, key=lambda sample: len(sample.size), default=None)
    if sample is None or readers < STEEPER or model.files == 0 or model.s_per_byte == 0:
        return model
    seconds, size, passes = stretches(sample)
    if len(seconds) < FEWEST_STRETCHES:
        return model
    if _rank_correlation(size, seconds) < CERTAIN / math.sqrt(len(seconds)):
        return model
    together = median_slope(size, seconds) * readers
    if together < STEEPER * model.s_per_byte:
        return model
    mean_size = float(sample.size.mean())
    mean_s = model.base_s + model.s_per_byte * mean_size
    slope = min(together, readers * model.s_per_byte, mean_s / mean_size)
    note = f"the readers share its bandwidth, {passes} passes at a time were compared"
    return dataclasses.replace(model, base_s=mean_s - slope * mean_size, s_per_byte=slope, note=note)


def stretches(sample: PassSample) -> tuple[Array, Array, int]:
    """Cuts a run into stretches of equally many passes: seconds, bytes, and how many passes."""
    order = np.argsort(sample.end_s, kind="stable")
    end_s, size = sample.end_s[order], sample.size[order]
    passes = max(FEWEST_PASSES, len(size) // MOST_STRETCHES)
    count = len(size) // passes
    ends = end_s[: count * passes].reshape(count, passes)[:, -1]
    return np.diff(ends), size[: count * passes].reshape(count, passes).sum(axis=1)[1:], passes


def _rank_correlation(x: Array, y: Array) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    ranks = [np.argsort(np.argsort(values)) - (len(values) - 1) / 2 for values in (x, y)]
    return float((ranks[0] @ ranks[1]) / (ranks[0] @ ranks[0]))
