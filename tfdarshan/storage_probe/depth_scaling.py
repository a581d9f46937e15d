"""What more readers get: the share of a call that is served one at a time, by throughput at each depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.storage.serialization import SHARES, call_time
from tfdarshan.storage_probe.prober import Cell
from tfdarshan.thresholds import THRESHOLD

# A call of which the probe's own work is a larger part says nothing about storage.
OWN = THRESHOLD["clearly"]
# The share is known no better than so, and where one round is all there is, than the second.
LEAST_ERROR, ONE_ROUND = THRESHOLD["rarely"], THRESHOLD["hardly"]
# A queue that the model does not fit makes the share as uncertain as this part of the misfit.
MISFIT = THRESHOLD["clearly"]
# Of the rounds.
Middle = Callable[[list[float]], Any]
MIDDLES: tuple[Middle, ...] = (np.median, np.mean)
# Fewer readers at a time than this at most show nothing.
LEAST_DEPTH = 4


@dataclass(frozen=True)
class Level:
    """What so many readers got. Times in seconds, rates per second.

    Attributes:
        readers: Reads at a time.
        call_s: What a read took, median of the rounds.
        calls_per_s: Reads a second, all readers together.
        bytes_per_s: Bytes a second, all readers together.
    """

    readers: int
    call_s: float
    calls_per_s: float
    bytes_per_s: float


@dataclass(frozen=True)
class Scaling:
    """How reads of one size go with the number of readers.

    Attributes:
        size: Bytes of a read, mean.
        levels: What each number of readers got, ascending.
        share: What of a call is served one at a time (`serialization.py`); None where it is not shown.
        low: Lower bound of it.
        high: Upper bound.
    """

    size: float
    levels: tuple[Level, ...]
    share: float | None = None
    low: float = 0.0
    high: float = 1.0

    @property
    def alone_s(self) -> float:
        """What a read takes that nothing runs beside."""
        return self.levels[0].call_s

    @property
    def most_readers(self) -> int:
        """The most readers that were tried."""
        return self.levels[-1].readers

    @property
    def times(self) -> float:
        """How many times as much the most readers get as one."""
        return self.levels[-1].calls_per_s / self.levels[0].calls_per_s


def scaling_of(cells: Sequence[Cell], slow: Collection[str] = ()) -> Scaling | None:
    """Fit it to the cells of reads of one size; None without any of a single reader.

    Depths at which the probe's own work would be a large part of a call are left out, and `slow` files.
    """
    shown = [cell for cell in cells if cell.readers == 1 or cell.own_s <= OWN * cell.call_s]
    depths = sorted({cell.readers for cell in shown})
    if not depths or depths[0] != 1:
        return None
    size = float(np.mean([cell.mean_bytes for cell in shown]))
    levels = tuple(_level(depth, [cell for cell in shown if cell.readers == depth], slow) for depth in depths)
    if depths[-1] < LEAST_DEPTH:
        return Scaling(size, levels)
    share, error = _fit(shown, slow)
    return Scaling(size, levels, share, max(0.0, share - 2 * error), min(1.0, share + 2 * error))


def _level(readers: int, cells: Sequence[Cell], slow: Collection[str]) -> Level:
    call_s = float(np.median([cell.call_s_without(slow) for cell in cells]))
    size = float(np.mean([cell.mean_bytes for cell in cells]))
    return Level(readers, call_s, readers / call_s, readers * size / call_s)


def _fit(cells: Sequence[Cell], slow: Collection[str]) -> tuple[float, float]:
    """Return the share and its standard error: by leaving out a round at a time, and by the misfit.

    The rounds' median is wrong of storage that lends at times, their mean of storage that is slow at times:
    if the two differ, the share is known no better than that.
    """
    fits = [_best(cells, slow, middle) for middle in MIDDLES]
    errors = [_error(cells, slow, middle, share) for middle, (share, _) in zip(MIDDLES, fits, strict=True)]
    (one, misfit), (other, _) = fits
    return (one + other) / 2, max(*errors, abs(one - other) / 2, LEAST_ERROR, MISFIT * misfit)


def _error(cells: Sequence[Cell], slow: Collection[str], middle: Middle, share: float) -> float:
    """Return the standard error by leaving out a round at a time: the jackknife's."""
    turns = sorted({cell.turn for cell in cells})
    rests = [[cell for cell in cells if cell.turn != turn] for turn in turns]
    without = [
        _best(rest, slow, middle)[0] for rest in rests if {cell.readers for cell in rest} >= {1, LEAST_DEPTH}
    ]
    if not without:
        return ONE_ROUND
    error = math.sqrt((len(turns) - 1) / len(turns) * sum((other - share) ** 2 for other in without))
    return max(error, ONE_ROUND / len(without))


def _best(cells: Sequence[Cell], slow: Collection[str], middle: Middle) -> tuple[float, float]:
    """Return the share that explains best what calls took at each depth, and by how much it is off."""
    depths = sorted({cell.readers for cell in cells})
    taken = np.log(
        [middle([cell.call_s_without(slow) for cell in cells if cell.readers == depth]) for depth in depths]
    )
    offs = []
    for share in SHARES:
        off = taken - np.log([call_time(float(share), depth) for depth in depths])
        offs.append(float(np.std(off)))
    best = int(np.argmin(offs))
    return float(SHARES[best]), offs[best]
