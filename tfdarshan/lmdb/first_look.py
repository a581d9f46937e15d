"""Whether storage answers late, or seeks, told from a few pages: before anything is known of it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from tfdarshan.native.residency import PAGE, is_resident

# So many pages are read one after the other, then so many at once, and then some in a row: a machine that
# stalls makes any of them late, so that only the quickest tells.
ALONE, AT_ONCE, TRIES, NEXT_PAGES = 2, 2, 2, 4
LEAST_PLACES = ALONE + AT_ONCE
PLACES = ALONE + TRIES * AT_ONCE
# How many places are asked for.
CANDIDATES = 64
# Nearer to each other, a disk need not seek for the next one.
APART_BYTES = 1 << 20
# What answers sooner is neither: what more in flight give is found by reading, and no head has to move.
LATE_S = 1e-3
# A head that is there already reads on in less of the time.
NEXT_SHARE = 0.5
# What answers one call after the other takes so many times as long for two.
IN_TURN = 1.5

# Reads a page at each of the places at once; gives how long the longest lasted, in seconds.
ReadSeconds = Callable[[list[int]], float]


class Answers(Enum):
    """How a storage answers."""

    TOGETHER = "late, and several calls at once"
    IN_TURN = "one call after the other, as a disk that seeks"
    SOON = "too soon for a head that moves"


def first_look(path: str, offsets: NDArray[np.uint64]) -> Answers | None:
    """Reads pages at a few of the places, which the page cache lacks; None where that does not tell.

    Args:
        path: The data file.
        offsets: Places that are going to be read, in bytes.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Else the kernel reads ahead, which takes long enough to be taken for lateness.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        places = _missing_places(handle, offsets)
        return judge(places, lambda chosen: _read_s(handle, chosen)) if len(places) >= LEAST_PLACES else None
    except OSError:
        return None
    finally:
        os.close(handle)


def judge(places: list[int], read_s: ReadSeconds) -> Answers:
    """Says how a storage answers, by reading at `LEAST_PLACES` to `PLACES` places, far from each other.

    A head that has to move makes two at once as late as two, and the next page comes sooner than any other.
    A busy machine makes reads longer, and either may be taken for the other: a comparison must confirm it.
    """
    alone_s = min(read_s([place]) for place in places[:ALONE])
    if alone_s < LATE_S:
        return Answers.SOON
    at_once = (places[first : first + AT_ONCE] for first in range(ALONE, len(places) - AT_ONCE + 1, AT_ONCE))
    if any(read_s(some) < IN_TURN * alone_s for some in at_once):
        return Answers.TOGETHER
    following = (places[ALONE - 1] + (1 + number) * PAGE for number in range(NEXT_PAGES))
    goes_on = any(read_s([page]) <= NEXT_SHARE * alone_s for page in following)
    return Answers.IN_TURN if goes_on else Answers.TOGETHER


def _missing_places(handle: int, offsets: NDArray[np.uint64]) -> list[int]:
    """Gives pages that are far from each other and, as the next ones, not in the page cache."""
    chosen: list[int] = []
    some = offsets[np.linspace(0, len(offsets) - 1, CANDIDATES).astype(np.intp)] if len(offsets) else offsets
    for page in sorted({place // PAGE * PAGE for place in some.tolist()}):
        is_apart = not chosen or page - chosen[-1] >= APART_BYTES
        if is_apart and is_resident(handle, page, (1 + NEXT_PAGES) * PAGE) is False:
            chosen.append(page)
        if len(chosen) == PLACES:
            break
    return chosen


def _read_s(handle: int, places: list[int]) -> float:
    """Begins the reads together, and leaves out how long threads wait for a processor to begin."""
    begin, lasted = threading.Barrier(len(places)), []

    def read(place: int) -> None:
        begin.wait()
        begin_s = time.monotonic()
        os.pread(handle, PAGE, place)
        lasted.append(time.monotonic() - begin_s)

    threads = [threading.Thread(target=read, args=(place,)) for place in places[1:]]
    for thread in threads:
        thread.start()
    read(places[0])
    for thread in threads:
        thread.join()
    return max(lasted)
