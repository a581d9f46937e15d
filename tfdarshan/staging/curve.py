"""Time saved against capacity, and the capacity beyond which more gives little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.replay.priors import SETTING

Array = Any

POINTS = 24


@dataclass(frozen=True)
class CurvePoint:
    """The best files (or folders) that fit into `room_bytes`: how many, and seconds of readers an epoch.

    `bytes` are the files' own, `room_bytes` what they take on the fast tier, in whole blocks.
    `saved_s` is what they save; `slow_s` is what they take where they are.
    """

    bytes: int
    room_bytes: int
    files: int
    saved_s: float
    slow_s: float


def capacity_curve(
    order: Array, value: Array, size: Array, room: Array, slow_s: Array
) -> tuple[CurvePoint, ...]:
    """Return points from one file to all of them, evenly spread over the bytes and over their logarithm.

    Args:
        order: Items, the best per byte first.
        value: Seconds of readers per epoch that each item saves.
        size: Bytes of each item.
        room: Bytes that each item takes on the fast tier.
        slow_s: Seconds of readers per epoch that each item takes where it is.
    """
    if not len(order):
        return ()
    filled, own, *sums = (np.cumsum(each[order], dtype=np.float64) for each in (room, size, value, slow_s))
    spots = np.r_[
        np.linspace(filled[0], filled[-1], POINTS // 2),
        np.geomspace(max(filled[0], 1), filled[-1], POINTS // 2),
    ]
    places = np.unique(np.clip(np.searchsorted(filled, spots, side="right") - 1, 0, len(order) - 1))
    return tuple(
        CurvePoint(int(own[i]), int(filled[i]), int(i) + 1, *(float(each[i]) for each in sums))
        for i in places.tolist()
    )


def knee(points: tuple[CurvePoint, ...]) -> CurvePoint | None:
    """Return the point farthest above the straight line from nothing to everything (Kneedle).

    None if no point is above that line: all bytes are worth the same.

    Source: Satopaa et al., "Finding a Kneedle in a Haystack", ICDCSW 2011.
    """
    if not points or points[-1].saved_s <= 0:
        return None
    room, saved_s = (np.array([getattr(one, name) for one in points]) for name in ("room_bytes", "saved_s"))
    place = steepest(saved_s, room)
    return points[place] if place + 1 < len(points) else None


def steepest(saved_s: Array, room: Array) -> int:
    """Return the place of sums up to which a byte gives most more than on average; the last one if all alike.

    Args:
        saved_s: What the best items save together, ascending.
        room: What they take, likewise.
    """
    above = saved_s / saved_s[-1] - room / room[-1]
    best = int(np.argmax(above))
    return best if above[best] > SETTING["knee"] else len(above) - 1
