"""How long a tier takes for one pass over a file: t = a + b x size, fitted robustly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import percent

Array = Any

BUCKETS = 40
POOR_R2 = 0.5
# Sizes that differ by less are one size.
ONE_SIZE = 1 + THRESHOLD["hardly"]


@dataclass(frozen=True)
class TimeModel:
    """Seconds of one pass over a file of `size` bytes: `base_s + size * s_per_byte`.

    Attributes:
        base_s: a, the time a file takes whatever its size.
        s_per_byte: b, the time per byte.
        files: Files the model was fitted on.
        r2: Share of the variation between size buckets that the line explains; 1 where all are of one size.
        scale: What the line was multiplied with for its sum over the files to be the measured sum.
        note: What is to be said about the fit, "" if nothing.
    """

    base_s: float
    s_per_byte: float
    files: int
    r2: float
    scale: float = 1.0
    note: str = ""

    def seconds(self, size: Array) -> Array:
        """Return the time of passes over so many bytes."""
        return self.base_s + self.s_per_byte * size


def fit_time_model(size: Array, seconds: Array, weight: Array | None = None) -> TimeModel:
    """Fit a + b x size, both at least 0, to passes over files.

    Files are put into buckets of equal number by size; the line goes through the buckets' trimmed means by
    Theil and Sen (the median slope of all pairs), so a few files that hung do not turn it. It is then scaled
    so that its sum is the measured sum: seconds to be saved are sums, and slow passes belong to them.

    Args:
        size: Bytes of a pass, one entry per file.
        seconds: Time of a pass, one entry per file.
        weight: Passes per file, 1 if not given.
    """
    weight = np.ones(len(size)) if weight is None else weight.astype(np.float64)
    order = np.argsort(size, kind="stable")
    size, seconds, weight = size[order].astype(np.float64), seconds[order].astype(np.float64), weight[order]
    if len(size) == 0:
        return TimeModel(0.0, 0.0, 0, 0.0, note="storage served no pass over these")
    edges = np.unique(np.linspace(0, len(size), min(BUCKETS, max(len(size) // 4, 1)) + 1).astype(int))
    x = np.array([size[i:j].mean() for i, j in pairwise(edges)])
    y = np.array([_trimmed_mean(seconds[i:j]) for i, j in pairwise(edges)])
    base, slope, note = _line(x, y)
    modelled = float(np.sum(weight * (base + slope * size)))
    scale = float(np.sum(weight * seconds)) / modelled if modelled > 0 else 1.0
    line = base + slope * x
    spread = float(np.sum((y - y.mean()) ** 2))
    one_size = x.max() <= ONE_SIZE * x.min()
    r2 = 1.0 if one_size or spread == 0 else max(0.0, 1 - float(np.sum((y - line) ** 2)) / spread)
    note = note or _quality(len(size), r2, one_size=one_size)
    return TimeModel(base * scale, slope * scale, len(size), r2, scale, note)


def _line(x: Array, y: Array) -> tuple[float, float, str]:
    """Return intercept, slope and a note; neither is negative."""
    if len(x) < 2 or x.max() <= ONE_SIZE * x.min():
        return float(np.mean(y)), 0.0, ""
    slope = median_slope(x, y)
    if slope <= 0:
        return float(np.mean(y)), 0.0, "time does not grow with size: each file is taken to cost the same"
    base = float(np.median(y - slope * x))
    if base <= 0:
        return (
            0.0,
            float(np.sum(y) / np.sum(x)),
            "only bytes cost time: small files gain no more than large",
        )
    return base, slope, ""


def median_slope(x: Array, y: Array) -> float:
    """Return the median slope of all pairs of points that are apart in x: Theil and Sen."""
    i, j = np.triu_indices(len(x), 1)
    apart = np.abs(x[j] - x[i]) > THRESHOLD["rarely"] * np.abs(x[i])
    return float(np.median((y[j] - y[i])[apart] / (x[j] - x[i])[apart])) if apart.any() else 0.0


def _quality(files: int, r2: float, *, one_size: bool) -> str:
    if files < THRESHOLD["few"]:
        return "what one costs is a guess by so few"
    if one_size:
        return "all files are of about one size: what a byte costs cannot be told from what a file costs"
    if r2 < POOR_R2:
        return f"a poor fit: size explains {percent(max(r2, 0.0), 1)} of the differences in time"
    return ""


def _trimmed_mean(values: Array) -> float:
    """Return the mean without the slowest and quickest tenth."""
    cut = int(THRESHOLD["hardly"] * len(values))
    return float(np.mean(np.sort(values)[cut : len(values) - cut]))
