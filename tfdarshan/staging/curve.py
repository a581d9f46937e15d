"""Time saved against capacity, and the capacity beyond which more gives little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any

POINTS = 96


@dataclass(frozen=True)
class CurvePoint:
    """The best files (or folders) that fit into `room_bytes`: how many, and thread seconds of an epoch.

    `bytes` are the files' own, `room_bytes` what they take on the fast tier, in whole blocks.
    `saved_s` is what they save; `slow_s` is what they take where they are, in so many `waits` for storage;
    `waited_s` is what steps wait for that.
    """

    bytes: int
    room_bytes: int
    files: int
    saved_s: float
    slow_s: float
    waits: float
    waited_s: float = 0.0


def capacity_curve(
    order: Array, value: Array, size: Array, room: Array, slow_s: Array, waits: Array, waited_s: Array
) -> tuple[CurvePoint, ...]:
    """Gives points from one file to all of them, evenly spread over the bytes and over their logarithm.

    Args:
        order: Items, the best per byte first.
        value: Thread seconds per epoch that each item saves.
        size: Bytes of each item.
        room: Bytes that each item takes on the fast tier.
        slow_s: Thread seconds per epoch that each item takes where it is.
        waits: Calls per epoch of each item for which a thread waited.
        waited_s: Seconds per epoch that steps waited for each item.
    """
    if not len(order):
        return ()
    filled, own, *sums = (
        np.cumsum(each[order], dtype=np.float64) for each in (room, size, value, slow_s, waits, waited_s)
    )
    spots = np.r_[
        np.linspace(filled[0], filled[-1], POINTS // 2),
        np.geomspace(max(filled[0], 1), filled[-1], POINTS // 2),
    ]
    places = np.unique(
        np.clip(np.searchsorted(filled, spots * (1 + 1e-12), side="right") - 1, 0, len(order) - 1)
    )
    return tuple(
        CurvePoint(int(own[i]), int(filled[i]), int(i) + 1, *(float(each[i]) for each in sums))
        for i in places.tolist()
    )


def knee(points: tuple[CurvePoint, ...]) -> CurvePoint | None:
    """Gives the point farthest above the straight line from nothing to everything (Kneedle).

    None where the curve is no more than 5 % of its height above that line: all bytes are worth the same.

    Source: Satopaa et al., "Finding a Kneedle in a Haystack", ICDCSW 2011.
    """
    if len(points) < 3 or points[-1].saved_s <= 0:
        return None
    all_bytes, all_saved = points[-1].room_bytes, points[-1].saved_s
    heights = [point.saved_s / all_saved - point.room_bytes / all_bytes for point in points]
    best = int(np.argmax(heights))
    return points[best] if heights[best] > 0.05 else None
