"""Whether storage answers late, or seeks, told from a few pages: before anything is known of it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.cached_places import are_cached
from tfdarshan.native.lmdb_file import timed_reads
from tfdarshan.native.residency import PAGE

# One page is read alone, and then some that follow it; if one of those comes soon, more are read alone, and
# then so many at once, twice if that is in doubt.
ALONE, NEXT_PAGES, AT_ONCE, TRIES = 4, 3, 6, 2
LEAST_PLACES, PLACES = 2, ALONE + TRIES * AT_ONCE
# Of little: looking at more would take as long as reading it.
PLACES_OF_LITTLE = 3
# How many places are asked for.
CANDIDATES = 64
# Nearer to each other, a disk need not seek for the next one.
APART_BYTES = 1 << 20
# What answers sooner is neither: what more in flight give is found by reading, and no head has to move.
LATE_S = 1e-3
# A head that is there already reads on in less of the time.
NEXT_SHARE = 0.5

# Asks for a page at each of the places at once; gives for each after how long it and those before it had
# come, in seconds.
ReadSeconds = Callable[[list[int]], list[float]]


class Answers(Enum):
    """How a storage answers."""

    TOGETHER = "late, and several calls at once"
    IN_TURN = "one call after the other, as a disk that seeks"
    SOON = "too soon for a head that moves"


def first_look(handle: int, offsets: NDArray[np.uint64], *, is_little: bool = False) -> Answers | None:
    """Read pages at a few of the places, which the page cache lacks; None where that does not tell.

    Args:
        handle: A descriptor of the data file, whose reads are not ahead from now on.
        offsets: Places that are going to be read, in bytes.
        is_little: What is going to be read takes hardly longer than looking at all places.
    """
    try:
        # Else the kernel reads ahead, which takes long enough to be taken for lateness.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        places = _missing_places(handle, offsets)
        if is_little:
            # The first one last, as what is read next begins there.
            places = places[:PLACES_OF_LITTLE][::-1]
        if len(places) >= LEAST_PLACES:
            return judge(places, lambda chosen: timed_reads(handle, chosen))
        is_soon = bool(places) and timed_reads(handle, places[:1])[0] < LATE_S
        return Answers.SOON if is_soon else None
    except OSError:
        return None


def judge(places: list[int], read_s: ReadSeconds) -> Answers:
    """Describe how a storage answers, by reading at `LEAST_PLACES` to `PLACES` places, far from each other.

    A head that has to move is there already for the next page, and takes n times as long for n places as
    for one. Storage that answers all at once takes as long as for one. Between them lies the square root of
    n: only a machine so busy that it makes reads that many times longer, again and again, has one taken for
    the other.
    """
    alone_s = read_s([places[0]])[0]
    if alone_s < LATE_S:
        return Answers.SOON
    next_s = min(read_s([places[0] + (1 + number) * PAGE])[0] for number in range(NEXT_PAGES))
    if next_s < LATE_S:  # a head that moves, or a stall
        alone_s = min([alone_s, *(read_s([place])[0] for place in places[1 : _alone(places)])])
    for at_once in _groups(places[_alone(places) :]):
        if alone_s < LATE_S:
            return Answers.SOON
        if next_s > NEXT_SHARE * alone_s:
            return Answers.TOGETHER
        lasted_s = read_s(at_once)
        alone_s = min(alone_s, lasted_s[0])
        goes_on = next_s <= NEXT_SHARE * alone_s
        if goes_on and lasted_s[-1] >= math.sqrt(len(at_once)) * max(alone_s, LATE_S):
            return Answers.IN_TURN
    return Answers.SOON if alone_s < LATE_S else Answers.TOGETHER


def _alone(places: list[int]) -> int:
    """Return how many of the places are read alone: half of few."""
    return min(ALONE, len(places) // 2)


def _groups(places: list[int]) -> Iterator[list[int]]:
    """Return the places that are read at once: `AT_ONCE` at a time, or all of fewer."""
    size = min(AT_ONCE, len(places))
    return (places[first : first + size] for first in range(0, len(places) - size + 1, size))


def _missing_places(handle: int, offsets: NDArray[np.uint64]) -> list[int]:
    """Return pages that are far from each other and, as the next ones, not in the page cache."""
    chosen: list[int] = []
    some = offsets[np.linspace(0, len(offsets) - 1, CANDIDATES).astype(np.intp)] if len(offsets) else offsets
    pages = sorted({place // PAGE * PAGE for place in some.tolist()})
    cached = are_cached(handle, pages, (1 + NEXT_PAGES) * PAGE) or []
    for page, is_cached in zip(pages, cached, strict=False):  # none, if the kernel does not say
        if not is_cached and (not chosen or page - chosen[-1] >= APART_BYTES):
            chosen.append(page)
        if len(chosen) == PLACES:
            break
    return chosen
