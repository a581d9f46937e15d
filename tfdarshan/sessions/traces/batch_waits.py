"""When a job asked for batches, and which of these are of a data set that is gone through between epochs.

Source: beside IteratorGetNext, TensorFlow's trace has the iterator's own event, `Iterator::Root`, with a
number for each iterator, and below it the last stage of its pipeline.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.schema import UNKNOWN

# Evaluation goes forward alone, a third of what a training step computes: with less than this share of it, a
# data set's batches are not trained on.
TRAINS = 0.5
# Of fewer batches in a row nothing is to be said.
FEWEST_BATCHES = 2


@dataclass(frozen=True)
class AskedBatch:
    """A wait for a batch: when it began and ended, in ns, of which iterator, and what that looks like.

    `iterator` is None where the trace does not say; `looks` are its last stage, and the bytes of the batch.
    """

    start_ns: int
    end_ns: int
    iterator: Hashable = None
    looks: Hashable = None


@dataclass(frozen=True)
class BatchWaits:
    """Waits for batches in order of time; arrays, one entry per wait.

    Attributes:
        start_ns: Where they begin.
        end_ns: Where they end.
        between: Which are of a data set that is gone through between epochs, such as a validation set: bool.
        epoch: Of which epoch each is, from 1 on: an iterator has one. UNKNOWN where nobody can tell, int64.
        first_ns: When its iterator was asked first. UNKNOWN where nobody can tell, int64.
    """

    start_ns: Array
    end_ns: Array
    between: Array
    epoch: Array
    first_ns: Array

    @property
    def steps(self) -> list[tuple[int, int, int]]:
        """Start, end and epoch of each step: from one wait to the next, but not of what is between epochs."""
        starts, epoch = self.start_ns.tolist(), self.epoch.tolist()
        trained = np.flatnonzero(~self.between[:-1]).tolist()
        return [(starts[place], starts[place + 1], epoch[place]) for place in trained]

    def epochs_by(self, at_ns: Array) -> Array:
        """Return the epoch of the batch that was last asked for before each time, UNKNOWN of none."""
        trained = np.flatnonzero(~self.between)
        place = np.searchsorted(self.start_ns[trained], at_ns) - 1
        epoch = np.append(self.epoch[trained], UNKNOWN)
        return epoch[place]


def batch_waits(asked: Sequence[AskedBatch]) -> BatchWaits:
    """Put waits in order of time; those that overlap, of several iterators, are one."""
    merged: list[AskedBatch] = []
    for batch in sorted(asked, key=lambda one: (one.start_ns, one.end_ns)):
        if merged and batch.start_ns <= merged[-1].end_ns:
            last = merged[-1]
            # Nobody can say whose it is.
            merged[-1] = AskedBatch(last.start_ns, max(last.end_ns, batch.end_ns))
        else:
            merged.append(batch)
    start, end = (
        np.array([getattr(one, name) for one in merged], np.int64) for name in ("start_ns", "end_ns")
    )
    between = _between(merged, start, end)
    first: dict[Hashable, int] = {None: UNKNOWN}
    first_ns = np.array([first.setdefault(one.iterator, one.start_ns) for one in merged], np.int64)
    return BatchWaits(start, end, between, _epochs(merged, between), first_ns)


def _epochs(asked: Sequence[AskedBatch], between: Array) -> Array:
    """Number the iterators over what is trained on, in the order of time.

    An iterator that ends is followed by the next epoch's. Iterators that take turns are data sets that are
    trained on together, and one for each batch is a way to ask for it: then nobody knows. Another data set is
    gone through in no epoch of the first.
    """
    epoch = np.full(len(asked), UNKNOWN)
    trained = np.flatnonzero(~between)
    turns = [list(turn) for _, turn in groupby(trained.tolist(), key=lambda place: asked[place].iterator)]
    first = [asked[turn[0]] for turn in turns]
    in_turn = len({batch.iterator for batch in first}) < len(first)
    short = any(len(turn) < FEWEST_BATCHES for turn in turns[:-1])
    if in_turn or short or any(batch.iterator is None for batch in first):
        return epoch
    epochs = [turn for turn, batch in zip(turns, first, strict=True) if batch.looks == first[0].looks]
    for number, turn in enumerate(epochs, 1):
        epoch[turn] = number
    return epoch


@dataclass(frozen=True)
class _Turn:
    """Batches `first` up to `last` that one iterator gave without another one's between them.

    `compute_ns` is the median time from a batch to asking for the next one.
    """

    first: int
    last: int
    looks: Hashable
    compute_ns: float
    lasted_ns: int


def _between(asked: Sequence[AskedBatch], start_ns: Array, end_ns: Array) -> Array:
    """Return which are of a data set that is gone through between those of another one, which is trained on.

    That is so if its batches are computed on for less than half as long, if it looks different from what is
    trained on, and if the job goes back to training after it. Data sets whose batches are asked for in turn
    are trained on together.
    """
    between = np.zeros(len(asked), bool)
    turns = _turns(asked, start_ns, end_ns)
    if not turns:
        return between
    trained_ns = TRAINS * max(turns, key=lambda one: one.lasted_ns).compute_ns
    trained = {turn.looks for turn in turns if turn.compute_ns >= trained_ns}
    trained_at = [turn.first for turn in turns if turn.looks in trained]
    others = [turn for turn in turns if turn.looks not in trained and turn.first > trained_at[0]]
    if any(turn.first < trained_at[-1] for turn in others):
        for turn in others:
            between[turn.first : turn.last] = True
    return between


def _turns(asked: Sequence[AskedBatch], start_ns: Array, end_ns: Array) -> list[_Turn]:
    """Return them in order of time; none where it is not known of which iterator each batch is."""
    if any(batch.iterator is None for batch in asked):
        return []
    changes = [place for place in range(1, len(asked)) if asked[place].iterator != asked[place - 1].iterator]
    found = []
    for first, last in pairwise([0, *changes, len(asked)]):
        if last - first < FEWEST_BATCHES and last < len(asked):
            return []
        if last - first < FEWEST_BATCHES:
            # The trace ended with it.
            break
        computed_ns = start_ns[first + 1 : last] - end_ns[first : last - 1]
        looks = (asked[first].looks, last - first)
        lasted_ns = int(end_ns[last - 1] - start_ns[first])
        found.append(_Turn(first, last, looks, float(np.median(computed_ns)), lasted_ns))
    return found
