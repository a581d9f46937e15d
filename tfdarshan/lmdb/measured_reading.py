"""Reading as the storage wants it: what the page cache has at once, else with as much in flight as helps."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tfdarshan.lmdb.cached_places import are_cached
from tfdarshan.lmdb.depth_search import DepthSearch
from tfdarshan.lmdb.first_look import Answers, first_look
from tfdarshan.lmdb.shared_choice import SharedChoice, turn
from tfdarshan.native.lmdb_file import LmdbFile
from tfdarshan.native.residency import PAGE

# What lies nearer is one call.
CALL_GAP_BYTES = 64 << 10
# Where the page cache is asked, and after how much it is asked again.
PLACES = 64
CACHE_LOOK_BYTES = 64 << 20
# It has the database if it has so many of them.
CACHED_SHARE = 0.95

# So little comes, from storage that answers soon, before comparing numbers in flight has paid.
LITTLE_BYTES = 32 << 20

# Reads some of the records asked for, by their places: with so many in flight (0: one, and so little at a
# time that the kernel reads ahead of it), or as the page cache has them.
Read = Callable[[NDArray[np.intp], int, bool], None]


@dataclass(frozen=True)
class Reading:
    """How a database is read, and why.

    Attributes:
        access: As it was asked for: "auto", "cached" or "direct".
        in_flight: The most reads that are in flight at once.
        cached_share: What share of the places looked at, of records that were to be read next, was in the
            page cache; None if nobody looked, or the kernel does not say.
        from_cache: Whether it is read as what the page cache has.
        takes_turns: Whether reads of this process wait for each other, as two at once were slower.
        speeds: What each number in flight gave when it was last tried, in bytes per second.
        looks: How often two numbers in flight were compared.
    """

    access: str
    in_flight: int
    cached_share: float | None = None
    from_cache: bool = False
    takes_turns: bool = False
    speeds: dict[int, float] = field(default_factory=dict)
    looks: int = 0


class Turns:
    """Reads that go on together, or one alone, which then has the storage to itself."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._together = 0
        self._waiting: list[object] = []
        self._alone = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nobody reads; nobody begins before it ends.

        Who waits longest is next, as files are read in order.
        """
        mine = object()
        with self._changed:
            self._waiting.append(mine)
            try:
                self._changed.wait_for(
                    lambda: self._waiting[0] is mine and not self._alone and not self._together
                )
                self._alone = True
            finally:
                self._waiting.remove(mine)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Wait until nobody reads alone or wants to."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._together += 1
        try:
            yield
        finally:
            with self._changed:
                self._together -= 1
                self._changed.notify_all()


class MeasuredReading:
    """Decides for one open database in one process.

    Several threads may read; a forked child goes on by itself.
    """

    def __init__(
        self,
        path: str,
        offsets: NDArray[np.uint64],
        most: int,
        *,
        file: LmdbFile | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Plan reading of a data file.

        Args:
            path: The data file.
            offsets: Where values begin, in bytes.
            most: The most reads in flight.
            file: The data file as it is open already, as long as it is.
            clock: Gives seconds.
        """
        self._file = None if file is None else weakref.ref(file)
        self._path, self._offsets, self._clock = path, offsets, clock
        self._search = DepthSearch(most)
        self._turns, self._process = Turns(), os.getpid()
        self._shared = SharedChoice()
        self._is_little = not len(offsets) or int(np.ptp(offsets)) < LITTLE_BYTES
        self._has_looked = False
        self._leads = False  # what others found does not count: this process compares
        self._adopted: tuple[int, bool] | None = None
        self.cached_share: float | None = None
        self._looks_after = 0  # bytes

    @property
    def from_cache(self) -> bool:
        """Whether the page cache has the database."""
        return self.cached_share is not None and self.cached_share >= CACHED_SHARE

    def reading(self) -> Reading:
        """Return how it reads now."""
        search = self._search
        return Reading(
            "auto",
            1 if self.from_cache else search.depth,
            self.cached_share,
            self.from_cache,
            search.harmed and search.depth == 1,
            dict(search.speeds),
            search.looks,
        )

    @property
    def is_searching(self) -> bool:
        """Whether it has not settled on a number in flight."""
        return self._search.is_due

    def add_read(self, read_bytes: int, elapsed_s: float) -> None:
        """Take what others read as this decided."""
        if not self.from_cache:
            self._search.add_settled(read_bytes, elapsed_s)

    def look_at_cache(self, read_bytes: int = 0, coming: NDArray[np.uint64] | None = None) -> None:
        """Ask the page cache, at most once in a while.

        Args:
            read_bytes: What is going to be read.
            coming: Where the values lie that come next: what a first epoch has read says nothing of the rest.
                None of those of the whole file.
        """
        self._looks_after -= read_bytes
        if self._looks_after <= 0:
            self._looks_after = CACHE_LOOK_BYTES
            file = None if self._file is None else self._file()
            self.cached_share = cached_share(
                self._path if file is None else file.handle, self._offsets if coming is None else coming
            )

    def read(self, read: Read, offsets: NDArray[np.uint64], sizes: NDArray[np.uint32]) -> None:
        """Read records whose values lie at `offsets` and have `sizes`."""
        self._renew_after_fork()
        total = int(sizes.sum(dtype=np.int64))
        self.look_at_cache(total, offsets)
        order = np.argsort(offsets, kind="stable")
        if self.from_cache:
            read(order, 1, True)
            return
        done = self._measure(read, order, offsets[order], sizes[order])
        if done < len(order):
            self._read_rest(read, order[done:], int(sizes[order[done:]].sum(dtype=np.int64)))

    def _renew_after_fork(self) -> None:
        if os.getpid() != self._process:
            # A thread of the parent's may have had its turn when this process was forked.
            self._turns, self._process = Turns(), os.getpid()

    def look(self, offsets: NDArray[np.uint64], sizes: NDArray[np.uint32]) -> None:
        """Look at the storage before it is read, if nothing is known of it, or take what others found.

        Of processes that were forked with one file one looks, and the others wait for that; the comparison
        that follows they do not wait for.

        Args:
            offsets: Where values lie, in rising order, in bytes.
            sizes: Of the values, in bytes.
        """
        self._renew_after_fork()
        if self._search.looks or not len(offsets):
            return
        if self._shared.found() is None and not self._has_looked and self._search.most > 1:
            with self._turns.alone(), turn(self._path) as handle:
                self._look(handle, offsets, sizes)
        found = self._shared.found()
        if found is not None and found != self._adopted and not self._leads:
            self._adopted = found
            self._search.adopt(found[0], harmed=found[1])

    def _look(self, handle: int, offsets: NDArray[np.uint64], sizes: NDArray[np.uint32]) -> None:
        """Look, if nobody else has meanwhile, and tell the others what to begin with."""
        if self._has_looked or self._shared.found() is not None:
            return
        self._has_looked = self._leads = True
        search, parts = self._search, _Parts(offsets.astype(np.int64), sizes)
        answers = first_look(handle, offsets, is_little=self._is_little)
        if answers is Answers.TOGETHER and self._is_little:
            search.adopt(search.most, harmed=False)
        elif answers is Answers.TOGETHER:
            search.expect()
        elif answers is Answers.IN_TURN:
            search.adopt(1, harmed=True, confirm=True)
        elif answers is Answers.SOON and self._is_little:
            search.adopt(1, harmed=False)
        search.answers_soon = answers is Answers.SOON
        if search.depth != 1 or not search.is_due or parts.end(0, search) is not None:
            self._shared.settle(search.depth, harmed=search.harmed)

    def _measure(
        self, read: Read, order: NDArray[np.intp], offsets: NDArray[np.uint64], sizes: NDArray[np.uint32]
    ) -> int:
        """Compare numbers in flight where that is due; return how many records were read."""
        self.look(offsets, sizes)
        search, parts = self._search, _Parts(offsets.astype(np.int64), sizes)
        if search.is_due and parts.end(0, search) is not None:
            with self._turns.alone():
                return self._read_parts(read, order, parts)
        return 0

    def _read_rest(self, read: Read, order: NDArray[np.intp], read_bytes: int) -> None:
        search = self._search
        takes_turns = search.harmed and search.depth == 1
        with ExitStack() as held:
            held.enter_context(self._turns.alone() if takes_turns else self._turns.together())
            if takes_turns:
                held.enter_context(turn(self._path))
            start_s, depth = self._clock(), search.depth
            read(order, 0 if takes_turns else depth, False)
            if depth == search.depth:
                search.add_settled(read_bytes, self._clock() - start_s)

    def _read_parts(self, read: Read, order: NDArray[np.intp], parts: _Parts) -> int:
        """Read parts as the search wants them, until it ends; alone. Return how many records were read."""
        search, done = self._search, 0
        while search.is_due:
            end = parts.end(done, search)
            if end is None:
                break
            depth, start_s = search.next, self._clock()
            read(order[done:end], depth, False)
            search.add_part(depth, parts.bytes_of(done, end), self._clock() - start_s)
            done = end
        if not search.is_due:
            self._shared.settle(search.depth, harmed=search.harmed)
        return done


class _Parts:
    """Parts of what is read, in the order of the file, large enough to tell what storage gives."""

    def __init__(self, offsets: NDArray[np.int64], sizes: NDArray[np.uint32]) -> None:
        ends = offsets + sizes
        begins_call = np.append(True, offsets[1:] - ends[:-1] > CALL_GAP_BYTES)
        self._bytes = np.append(0, np.cumsum(sizes, dtype=np.int64))
        self._calls = np.append(0, np.cumsum(begins_call))

    def end(self, first: int, search: DepthSearch) -> int | None:
        """Return where the part ends that begins with record `first`; None where too little is left."""
        full = np.searchsorted(self._bytes, self._bytes[first] + search.part_bytes)
        many = np.searchsorted(self._calls, self._calls[first] + search.part_calls)
        end = int(min(full, many))
        return end if end < len(self._bytes) else None

    def bytes_of(self, first: int, end: int) -> int:
        """Return the sum of sizes."""
        return int(self._bytes[end] - self._bytes[first])


def cached_share(file: str | int, offsets: NDArray[np.uint64]) -> float | None:
    """Return what share of some places of a file is in the page cache, without reading any.

    None where the kernel does not say, or there is no place.

    Args:
        file: Its path, or a descriptor.
        offsets: The places, in bytes.
    """
    if not len(offsets):
        return None
    # Not by numpy.unique(), which imports much more of NumPy, in each forked child anew.
    chosen = offsets[np.linspace(0, len(offsets) - 1, PLACES).astype(np.intp)] // PAGE * PAGE
    places = list(set(chosen.tolist()))
    if isinstance(file, int):
        found = are_cached(file, places)
    else:
        try:
            with Path(file).open("rb") as opened:
                found = are_cached(opened.fileno(), places)
        except OSError:
            return None
    return None if found is None else sum(found) / len(found)
