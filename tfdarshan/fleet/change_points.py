"""Where a noisy series goes from one level to another: the fit of levels that is best with a price for each.

A level is the median of its values, and a fit's cost the sum of the absolute deviations. The scatter that the
price goes by is that of neighbours' differences, which a few steps between levels hardly touch.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.native.spool_reader import Array

# The price of another level, in scatters, for each factor e in the number of values.
PRICE = 3.0
# Levels next to each other are apart by so many standard errors of their medians.
LEAST_ERRORS = 4.0
# The scale of a median absolute deviation, and of a median's error, for normal values.
MAD_SCALE, MEDIAN_ERROR = 1.4826, 1.2533
LEAST_SCATTER = 1e-3


def change_points(values: Array, least_values: int, least_step: float) -> list[int]:
    """Return the places at which another level begins, in order.

    Args:
        values: The series.
        least_values: How many values a level has.
        least_step: How far levels next to each other are apart.
    """
    if len(values) < 2 * least_values:
        return []
    scatter = scatter_of(values)
    places = _best_fit(values, least_values, PRICE * scatter * float(np.log(len(values))))
    while places:
        strength = _strengths(values, places, scatter)
        weakest = int(np.argmin(strength[:, 0]))
        errors = strength[weakest, 0]
        if errors >= LEAST_ERRORS and strength[:, 1].min() >= least_step:
            return places
        drop = weakest if errors < LEAST_ERRORS else int(np.argmin(strength[:, 1]))
        places = [place for number, place in enumerate(places) if number != drop]
    return []


def scatter_of(values: Array) -> float:
    """Return the standard deviation of values around their levels."""
    apart = np.diff(values)
    return max(MAD_SCALE * float(np.median(np.abs(apart))) / float(np.sqrt(2)), LEAST_SCATTER)


def _best_fit(values: Array, least_values: int, price: float) -> list[int]:
    """Return the places of the cheapest fit, by the best fits of all beginnings."""
    count = len(values)
    best = np.full(count + 1, np.inf)
    best[0], before = -price, [0] * (count + 1)
    for end in range(least_values, count + 1):
        for start in (0, *range(least_values, end - least_values + 1)):
            part = values[start:end]
            cost = best[start] + price + float(np.abs(part - np.median(part)).sum())
            if cost < best[end]:
                best[end], before[end] = cost, start
    places, end = [], before[count]
    while end:
        places.append(end)
        end = before[end]
    return places[::-1]


def _strengths(values: Array, places: list[int], scatter: float) -> Array:
    """Return for each place how far its levels are apart: in standard errors, and as it is."""
    edges = [0, *places, len(values)]
    rows = []
    for first, place, last in zip(edges, edges[1:], edges[2:], strict=False):
        one, two = values[first:place], values[place:last]
        step = abs(float(np.median(two) - np.median(one)))
        error = MEDIAN_ERROR * scatter * float(np.sqrt(1 / len(one) + 1 / len(two)))
        rows.append((step / error, step))
    return np.array(rows)
