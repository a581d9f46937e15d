"""How much of a call is served one at a time: what tells storage that is full from storage that waits.

A call takes L wherever it waits beside others (a round trip, a server's work), and s at what serves one call
at a time (a link, a disk's arm, a limit of operations a second). `share` is s / (L + s), what of a call
that nothing runs beside is served so: at 0 n readers read n times as much, at 1 as much as one does, and
never is more read than one call each s.

It shows in how long calls take with others under way: a call that finds another one at s waits for it. What
n calls at a time take is mean value analysis' answer for one server and a delay. Each call counts by what its
like usually take: opens that memory answers in 0.1 ms say nothing of reads of 30 ms.

Source: Reiser and Lavenberg, Mean-Value Analysis of Closed Multichain Queuing Networks, JACM 27 (2), 1980.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.reader_count import weighted_median
from tfdarshan.analysis.calls.stretches import PARTS, Columns
from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.thresholds import THRESHOLD

DEEPEST = 64
SHARES = np.linspace(0.0, 1.0, 51)
# Calls that are compared with each other: storage that is slower for a while is slower for all of them.
# Fewer tell nothing, nor do more of which fewer take most of the time.
CHUNK = int(THRESHOLD["chunk"])
# Too few of them at another depth than most tell nothing, either.
RARELY = THRESHOLD["rarely"]
# A call that takes more than this many times as long as its like hung; it says nothing about its neighbours.
HUNG = THRESHOLD["hung"]
# A depth is another one from here on, as a share of the usual.
APART = THRESHOLD["near"]
# The standard deviation of a share that may as well be any from 0 to 1: who knows it no better knows nothing.
GUESS = 1 / math.sqrt(12)
# As measured, 0 to 1, a lower bound of it and an upper one.
Share = tuple[float, float, float]


def contention_of(stretches: Sequence[Columns]) -> Share | None:
    """Return `serialized_share` of a session's input calls that took longer than the page cache does.

    Args:
        stretches: `StoredCalls.stretches`.
    """
    return serialized_share(
        [
            (start_ns, end_ns, usual_times(kinds, length, (end_ns - start_ns) / 1e9))
            for start_ns, end_ns, length, kinds, _ in stretches
        ]
    )


def usual_times(kinds: Array, length: Array, taken_s: Array) -> Array:
    """Return what calls of the same kind, and reads of the same size, usually take, in seconds, float64."""
    usual = np.ones(len(kinds))
    for kind in np.unique(kinds).tolist():
        alike = kinds == kind
        if kind == KIND["read"]:
            model = fit_time_model(length[alike], taken_s[alike])
            usual[alike] = model.seconds(length[alike])
        else:
            usual[alike] = np.median(taken_s[alike])
    return usual


def serialized_share(stretches: Sequence[tuple[Array, Array, Array]]) -> Share | None:
    """Return what of a call is served one at a time, as a share of what it takes alone.

    Args:
        stretches: Of each stretch of calls that storage served their starts in ns, ascending, their ends,
            and what such calls usually take in seconds: one entry per call.

    Returns:
        None where calls are too few, nearly always have as many others under way, or take times of which
        their depths explain so little that any share may be right.
    """
    if sum(len(start) for start, _, _ in stretches) < CHUNK:
        return None
    weight = np.maximum(np.concatenate([usual for _, _, usual in stretches]), 1e-9)
    if weight.sum() ** 2 / (weight**2).sum() < CHUNK:
        return None
    at_start = np.concatenate([depth_at_start(start, end) for start, end, _ in stretches])
    meanwhile = np.concatenate([mean_depth(start, end) for start, end, _ in stretches])
    middle = weighted_median(meanwhile, weight)
    if np.average(np.abs(meanwhile / middle - 1) > APART, weights=weight) < RARELY:
        return None
    taken = np.concatenate([(end - start) / 1e9 / np.maximum(usual, 1e-9) for start, end, usual in stretches])
    taken = np.minimum(taken, HUNG * np.median(taken))
    part = np.arange(len(taken)) * PARTS // len(taken)
    # A queue delays who comes later, a shared link who is there already: whichever shows more is the case.
    share, error = max(_fit(depth, taken, weight, part) for depth in (at_start, meanwhile))
    if error >= GUESS:
        return None
    return share, max(0.0, share - 2 * error), min(1.0, share + 2 * error)


def call_time(share: float, depth: float) -> float:
    """Return how many times as long as alone a call takes with `depth` calls under way all the time."""
    return float(call_times(share, np.array(depth)))


def call_times(share: float, depth: Array) -> Array:
    """Return the same for several depths, float64."""
    return np.interp(depth, np.arange(1, DEEPEST + 1), _times(share))


def depth_at_start(start_ns: Array, end_ns: Array) -> Array:
    """Return how many calls were under way when each began, with it, float64; starts ascend."""
    ended = np.searchsorted(np.sort(end_ns), start_ns, side="right")
    depth: Array = np.arange(1, len(start_ns) + 1) - ended
    return np.maximum(depth, 1).astype(np.float64)


def mean_depth(start_ns: Array, end_ns: Array) -> Array:
    """Return how many calls were under way while each was, with it, float64."""
    moments = np.concatenate([start_ns, end_ns])
    order = np.argsort(moments, kind="stable")
    moments = moments[order]
    depth = np.cumsum(np.where(order < len(start_ns), 1, -1))
    area = np.concatenate([[0.0], np.cumsum(depth[:-1] * np.diff(moments), dtype=np.float64)])
    inside = np.interp(end_ns, moments, area) - np.interp(start_ns, moments, area)
    return np.maximum(inside / np.maximum(end_ns - start_ns, 1), 1.0)


def _times(share: float) -> Array:
    """Return the same as `call_time` for depths 1 to 64: mean value analysis."""
    times, queue = np.ones(DEEPEST), 0.0
    for depth in range(1, DEEPEST + 1):
        at_server = share * (1 + queue)
        times[depth - 1] = 1 - share + at_server
        queue = depth / times[depth - 1] * at_server
    return times


def _times_on_arrival(share: float) -> Array:
    """Return how long a call takes that finds depth - 1 others: of the one that is served half is left."""
    times, queue, busy = np.ones(DEEPEST), 0.0, 0.0
    for depth in range(1, DEEPEST + 1):
        at_server = share * (1 + max(queue - busy / 2, 0.0))
        times[depth - 1] = 1 - share + at_server
        rate = min(depth / times[depth - 1], 1 / share if share else math.inf)
        queue, busy = min(depth, rate * at_server), min(1.0, rate * share)
    return times


CURVES = np.array([_times_on_arrival(float(share)) for share in SHARES])


def _fit(depth: Array, taken: Array, weight: Array, part: Array) -> tuple[float, float]:
    """Return the share that explains best how long calls took at their depths, and its standard error."""
    chunk = _chunks(part)
    size = np.bincount(chunk, weight)
    relative = taken / (np.bincount(chunk, weight * taken) / size)[chunk]
    depths = np.arange(1, DEEPEST + 1)
    errors = np.empty((len(SHARES), int(part[-1]) + 1))
    for row, curve in enumerate(CURVES):
        said = np.interp(depth, depths, curve)
        said /= (np.bincount(chunk, weight * said) / size)[chunk]
        errors[row] = np.bincount(part, weight * (relative - said) ** 2, minlength=errors.shape[1])
    whole = errors.sum(axis=1)
    best, parts = float(SHARES[int(np.argmin(whole))]), errors.shape[1]
    # Jackknife: the session without each of its parts.
    without = SHARES[np.argmin(whole[:, None] - errors, axis=0)]
    error = math.sqrt((parts - 1) / parts * float(((without - best) ** 2).sum())) if parts > 1 else 1.0
    return best, max(error, float(SHARES[1]) / 2)


def _chunks(part: Array) -> Array:
    """Numbers the chunks of calls that are compared with each other: neighbours, of one part."""
    first = np.searchsorted(part, part)
    place = np.arange(len(part)) - first
    return np.unique(part.astype(np.int64) << 32 | place // CHUNK, return_inverse=True)[1]
