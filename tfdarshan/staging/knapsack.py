"""Chooses items of the greatest total value under a capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any

GAP_WANTED = 0.005
MOST_STEPS = 200_000
CORE = 400
HEAVIEST = 10


@dataclass(frozen=True)
class Choice:
    """Which items, as sorted indices; their value and weight; no choice is worth more than `bound`."""

    items: Array
    value: float
    weight: float
    bound: float


def density_order(value: Array, weight: Array) -> Array:
    """Return the items of positive value, the most value per weight first."""
    useful = np.flatnonzero(value > 0)
    density = (value[useful] / np.maximum(weight[useful], 1e-9)).astype(np.float32)
    return useful[np.argsort(-density)]


def choose(value: Array, weight: Array, capacity: float, order: Array | None = None) -> Choice:
    """Choose by value per weight; where that may be far from the best, by branch and bound.

    Filling in order of value per weight loses at most the value of one item, so with many small items it is
    as good as the bound. With few or large ones every choice of the heaviest is tried, the rest filled in
    order, and then the items around the place where the capacity ends are searched until the choice is within
    `GAP_WANTED` of the bound or `MOST_STEPS` are done.

    Args:
        value: Value of each item; those of 0 or less are never chosen.
        weight: Weight of each item, at least 0.
        capacity: The most that chosen items may weigh together.
        order: `density_order(value, weight)`, where it is there already.
    """
    order = density_order(value, weight) if order is None else order
    order = order[weight[order] <= capacity]
    filled = np.cumsum(weight[order], dtype=np.float64)
    fits = int(np.searchsorted(filled, capacity, side="right"))
    bound = _total(value[order[:fits]])
    if fits < len(order):
        room = capacity - (filled[fits - 1] if fits else 0.0)
        bound += float(value[order[fits]] * room / weight[order[fits]])
    taken = np.concatenate([order[:fits], _fill(order[fits:], weight, capacity - weight[order[:fits]].sum())])
    best_single = order[np.argmax(value[order])] if len(order) else None
    if best_single is not None and value[best_single] > value[taken].sum():
        taken = np.array([best_single])
    if len(order) and value[taken].sum() < (1 - GAP_WANTED) * bound:
        with_heaviest = _with_heaviest(order, value, weight, capacity)
        taken = max(taken, with_heaviest, key=lambda items: float(value[items].sum()))
    if len(order) and value[taken].sum() < (1 - GAP_WANTED) * bound:
        taken = _searched(order, fits, value, weight, capacity, taken, bound)
    taken = np.sort(taken.astype(np.int64))
    return Choice(taken, _total(value[taken]), _total(weight[taken]), bound)


def _total(values: Array) -> float:
    return float(values.sum(dtype=np.float64))


def fill_in_order(order: Array, weight: Array, capacity: float) -> Array:
    """Return the items of `order` up to the first that does not fit."""
    filled = np.cumsum(weight[order], dtype=np.float64)
    return order[: int(np.searchsorted(filled, capacity, side="right"))]


def _fill(order: Array, weight: Array, room: float) -> Array:
    """Return the items that still fit, in order, skipping those that do not."""
    taken: list[int] = []
    while room > 0 and len(order):
        order = order[weight[order] <= room]
        filled = np.cumsum(weight[order], dtype=np.float64)
        fits = int(np.searchsorted(filled, room, side="right"))
        taken += order[:fits].tolist()
        room -= float(filled[fits - 1]) if fits else 0.0
        order = order[fits:]
    return np.array(taken, np.int64)


def _with_heaviest(order: Array, value: Array, weight: Array, capacity: float) -> Array:
    """Return the best choice of the heaviest items, with the others filled in by value per weight.

    A search that begins with the best density comes late to an item that is half of everything.
    """
    heavy = order[np.argsort(-weight[order], kind="stable")[:HEAVIEST]]
    light = order[~np.isin(order, heavy)]
    weights = np.concatenate([[0.0], np.cumsum(weight[light], dtype=np.float64)])
    values = np.concatenate([[0.0], np.cumsum(value[light], dtype=np.float64)])
    subsets = (np.arange(2 ** len(heavy))[:, None] >> np.arange(len(heavy)) & 1).astype(bool)
    room = capacity - subsets @ weight[heavy]
    fits = np.maximum(np.searchsorted(weights, room, side="right") - 1, 0)
    total = np.where(room >= 0, subsets @ value[heavy] + values[fits], -np.inf)
    best = int(np.argmax(total))
    filled = light[: fits[best]]
    left = float(room[best]) - float(weights[fits[best]])
    return np.concatenate([heavy[subsets[best]], filled, _fill(light[fits[best] :], weight, left)])


def _searched(
    order: Array, fits: int, value: Array, weight: Array, capacity: float, taken: Array, bound: float
) -> Array:
    """Improve on `taken` by a search over the items around place `fits` of `order`."""
    first, last = max(0, fits - CORE // 2), min(len(order), fits + CORE // 2)
    fixed, core = order[:first], order[first:last]
    search = _Search(value[core].tolist(), weight[core].tolist())
    fixed_value = float(value[fixed].sum())
    found = search.run(
        capacity - float(weight[fixed].sum()),
        float(value[taken].sum()) - fixed_value,
        (1 - GAP_WANTED) * bound - fixed_value,
    )
    return taken if found is None else np.concatenate([fixed, core[found]])


class _Search:
    """Branch and bound in order of value per weight, depth first, the item taken before it is left."""

    def __init__(self, value: list[float], weight: list[float]) -> None:
        self._value, self._weight = value, weight
        self._values = np.r_[0.0, np.cumsum(value)]
        self._weights = np.r_[0.0, np.cumsum(weight)]

    def run(self, capacity: float, to_beat: float, enough: float) -> list[int] | None:
        """Return the best items found, None if none beats `to_beat`; ends once `enough` is reached."""
        value, weight, count = self._value, self._weight, len(self._value)
        best: list[int] | None = None
        taken: list[int] = []
        have, room, place = 0.0, capacity, 0
        for _ in range(MOST_STEPS):
            if place < count and have + self._most(place, room) > to_beat:
                if weight[place] <= room:
                    taken.append(place)
                    have, room = have + value[place], room - weight[place]
                place += 1
                continue
            if place >= count and have > to_beat:
                best, to_beat = taken.copy(), have
                if have >= enough:
                    break
            if not taken:
                break
            place = taken.pop()
            have, room = have - value[place], room + weight[place]
            place += 1
        return best

    def _most(self, place: int, room: float) -> float:
        """Return the most that the items from `place` on can add: the last of them in part."""
        end = int(self._weights.searchsorted(self._weights[place] + room, side="right")) - 1
        added = float(self._values[end] - self._values[place])
        if end < len(self._value):
            left = room - float(self._weights[end] - self._weights[place])
            added += self._value[end] * left / max(self._weight[end], 1e-9)
        return added
