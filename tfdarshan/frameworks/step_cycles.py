"""Cuts what a training thread noted into steps, all at once: a loop may take millions of batches.

A cycle is some requests, and the optimizers' steps behind them. It is a step, or several if the job kept its
batches and stepped on. No cycle depends on another one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tfdarshan.frameworks.batch_rows import CAME, END, OPTIMIZER, REQUEST, START, UNKNOWN
from tfdarshan.native.spool_reader import Array

BITS = 32
LOW_BITS = (1 << BITS) - 1
NEVER = -1


@dataclass(frozen=True)
class Steps:
    """Steps in order of time; int64 arrays, one entry per step, times in ns since the epoch.

    Attributes:
        start_ns: When they begin.
        end_ns: When they end.
        wait_ns: How long they wait for their batches.
        epoch: Which pass over the loader they are of, UNKNOWN if it is no epoch.
        exposed_ns: How long the GPU was idle in the wait, UNKNOWN if that was not measured of all of it.
    """

    start_ns: Array
    end_ns: Array
    wait_ns: Array
    epoch: Array
    exposed_ns: Array


def cut_steps(
    rows: Array, places: Array, epochs: Array, training: frozenset[int], *, by_optimizer: bool
) -> Steps:
    """Return the steps. The last one of an optimizer ends with it, a batch when its iterator is gone.

    Args:
        rows: What a thread noted, in order of time, an array of TIMED.
        places: Of each row, its loader.
        epochs: Of each row, which pass over its loader it is of, UNKNOWN if it is no epoch.
        training: The loaders whose batches are trained on.
        by_optimizer: Whether optimizers end steps; else a row of OPTIMIZER behind each batch does.
    """
    trained, kind = np.isin(places, list(training)), rows["kind"]
    asks = (kind == START) | (kind == REQUEST)
    used = np.flatnonzero(asks | (kind == OPTIMIZER) | ((kind == END) & trained & (not by_optimizer)))
    if not len(used):
        return Steps(*np.zeros((5, 0), np.int64))
    ends_ns = int(rows["end_ns"][-1])
    cycles = _Cycles(rows[used], places[used], epochs[used], trained[used])
    return cycles.steps(NEVER if by_optimizer else ends_ns, may_go_on=by_optimizer)


class _Cycles:
    """The cycles of some rows: each row asks for something, ends an iterator, or is an optimizer's step."""

    def __init__(self, rows: Array, places: Array, epochs: Array, trained: Array) -> None:
        self._rows, self._places, self._epochs = rows, places, epochs
        kind, came = rows["kind"], rows["outcome"] == CAME
        self._stepped = kind == OPTIMIZER
        self._asks = kind != END
        self._starts = trained & (kind == START)
        self._takes = trained & (kind == REQUEST) & came
        self._stops = trained & (kind == REQUEST) & ~came
        self._lasted_ns = rows["end_ns"] - rows["begin_ns"]
        follows = np.append(True, self._stepped[:-1])
        # Where each begins, and the one that each row is of, NEVER for steps before any request.
        self._heads = np.flatnonzero(~self._stepped & follows)
        self._cycle = np.cumsum(~self._stepped & follows) - 1

    def steps(self, last_ns: int, *, may_go_on: bool) -> Steps:
        """Return the steps.

        Args:
            last_ns: When the last step ends at least, NEVER if nothing says so.
            may_go_on: Whether a cycle may be several steps.
        """
        first = self._first_steps()
        done = np.flatnonzero(self._stepped & (self._cycle != NEVER))
        done = done[first.start_ns[self._cycle[done]] != NEVER]
        leads = np.diff(self._cycle[done], prepend=NEVER) != 0
        begins = np.flatnonzero(leads | self._goes_on(done)) if may_go_on else np.flatnonzero(leads)
        if not len(begins):
            return Steps(*np.zeros((5, 0), np.int64))
        lasts = np.append(begins[1:], len(done)) - 1
        cycle, is_lead, done_ns = self._cycle[done[begins]], leads[begins], self._rows["end_ns"][done[lasts]]
        next_ns = np.append(self._rows["begin_ns"][self._heads], last_ns)[cycle + 1]
        end_ns = np.where(np.append(is_lead[1:], True), np.maximum(next_ns, done_ns), done_ns)
        exposed_ns = first.exposed_ns[cycle]
        return Steps(
            np.where(is_lead, first.start_ns[cycle], np.append(0, end_ns[:-1])),
            end_ns,
            np.where(is_lead, first.wait_ns[cycle], 0),
            first.epoch[cycle],
            np.where(is_lead, exposed_ns, np.minimum(exposed_ns, 0)),
        )

    def _first_steps(self) -> Steps:
        """Return the first step of each cycle, its end unknown; it begins NEVER if there is none.

        It waits for the batches that are trained on, or for the end of a loader of which it keeps some.
        """
        rows, count = self._rows, len(self._heads)
        start_ns, wait_ns, epoch, exposed_ns = np.full((4, count), NEVER, np.int64)
        last = np.full(count, NEVER)
        asked = np.flatnonzero(self._asks & ~self._stepped)
        last[self._cycle[asked]] = asked
        rests = last[(last != NEVER) & self._stops[last]]
        taken = np.flatnonzero(self._takes)
        taken = taken[taken > self._given_up()[self._cycle[taken]]]
        for waits in (rests, taken):
            if not len(waits):
                continue
            cycle, group = np.unique(self._cycle[waits], return_index=True)
            firsts = waits[group]
            started = self._started[waits] if waits is taken else np.full(len(waits), NEVER)
            known = started != NEVER
            started_ns = np.where(known, self._lasted_ns[started], 0)
            # What the job did between an iterator's start and its first request is no part of a step.
            begin_ns = np.repeat(rows["begin_ns"][firsts], np.diff(np.append(group, len(waits))))
            before = known & (rows["begin_ns"][started] < begin_ns)
            start_ns[cycle] = rows["begin_ns"][firsts] - np.add.reduceat(started_ns * before, group)
            wait_ns[cycle] = np.add.reduceat(self._lasted_ns[waits] + started_ns, group)
            epoch[cycle] = self._epochs[firsts]
            told = np.where(known, rows["exposed_ns"][started], 0)
            unknown = np.minimum(rows["exposed_ns"][waits], told) == UNKNOWN
            exposed = np.add.reduceat(rows["exposed_ns"][waits] + told, group)
            exposed_ns[cycle] = np.where(np.maximum.reduceat(unknown, group), UNKNOWN, exposed)
        return Steps(start_ns, start_ns, wait_ns, epoch, exposed_ns)

    @property
    def _started(self) -> Array:
        """Of each batch the start of its pass, if it is the first one behind that; else NEVER."""
        both, passes = np.flatnonzero(self._starts | self._takes), self._rows["pass"]
        ordered = both[np.argsort(passes[both], kind="stable")]
        before, after = ordered[:-1], ordered[1:]
        own = self._starts[before] & self._takes[after] & (passes[before] == passes[after])
        found = np.full(len(self._rows), NEVER)
        found[after[own]] = before[own]
        return found

    def _given_up(self) -> Array:
        """Return the row up to which the batches of each cycle are trained on no more, NEVER for none.

        A loader that has given some begins a pass: the job has left the one before.
        """
        found = np.full(len(self._heads), NEVER)
        both = np.flatnonzero(self._starts | self._takes)
        ordered = both[np.argsort(self._places[both], kind="stable")]
        gave = np.maximum.accumulate(np.where(self._takes[ordered], np.arange(len(ordered)), 0))
        given = ordered[gave]
        again = self._starts[ordered] & self._takes[given] & (given < ordered)
        again &= (self._places[given] == self._places[ordered]) & (self._cycle[given] == self._cycle[ordered])
        for start, batch in sorted(zip(ordered[again].tolist(), given[again].tolist(), strict=True)):
            if batch > found[self._cycle[start]]:
                found[self._cycle[start]] = start
        return found

    def _goes_on(self, done: Array) -> Array:
        """Return which steps of optimizers begin another step of their cycle, bool.

        They do if their optimizer has stepped as often as it does for a batch at least.

        Args:
            done: The rows of steps of optimizers that end a step.
        """
        names = np.unique(self._rows["ordinal"][self._stepped])
        name = np.searchsorted(names, self._rows["ordinal"])
        usual = _usual_times(name, self._stepped, np.cumsum(self._takes), len(names))
        pairs, times = np.unique(paired(self._cycle[done], name[done]), return_counts=True)
        often = (pairs >> BITS)[times > usual[pairs & LOW_BITS]]
        looked_at = np.flatnonzero(np.isin(self._cycle[done], often))
        found = np.zeros(len(done), bool)
        of_cycle, now = NEVER, Counter[int]()
        for place, row in zip(looked_at.tolist(), done[looked_at].tolist(), strict=True):
            cycle, one = int(self._cycle[row]), int(name[row])
            if cycle != of_cycle:
                of_cycle, now = cycle, Counter()
            elif now[one] >= usual[one]:
                found[place], now = True, Counter()
            now[one] += 1
        return found


def _usual_times(name: Array, stepped: Array, batch: Array, names: int) -> Array:
    """Return how often each optimizer steps for a batch, at least: a loop may keep its batches and step on.

    What follows the first batch and the last one may have been recorded in part.
    """
    within = stepped & (batch > 0) & (batch < batch.max(initial=0))
    pairs, counts = np.unique(paired(batch[within], name[within]), return_counts=True)
    found = np.full(names, np.iinfo(np.int64).max)
    np.minimum.at(found, pairs & LOW_BITS, counts)
    seen = np.isin(np.arange(names), pairs & LOW_BITS)
    return np.where(seen, found, 1)


def paired(first: Array, second: Array) -> Array:
    """Return pairs of numbers as one number each; of the second one only its lowest bits."""
    found: Array = (first.astype(np.int64) << BITS) | (second.astype(np.int64) & LOW_BITS)
    return found
