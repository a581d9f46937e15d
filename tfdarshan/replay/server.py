"""A server of a queueing network, for all samples at once."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.replay.priors import SETTING

RESTS = int(SETTING["rests"])


class Server:
    """One that serves a task at a time, in the order in which tasks are told to it.

    A task that is told later may come earlier: a request that took long at the station before does not hold
    up those behind it. So the server remembers its last rests, and serves a task in the first one that it
    fits into.

    Args:
        samples: How many samples there are.
        in_order: Whether no task comes earlier than one that was told before.
    """

    def __init__(self, samples: int, *, in_order: bool = False) -> None:
        self._free_s = np.zeros(samples)
        self._rests_s, self._rests_end_s = np.zeros((RESTS, samples)), np.zeros((RESTS, samples))
        self._in_order, self._columns = in_order, np.arange(samples)

    def serve(self, at_s: Array, need_s: Array) -> Array:
        """Return when each sample's task has been served; at once if it needs nothing.

        Args:
            at_s: When it comes, shape (samples,).
            need_s: How long it needs the server.
        """
        needs = need_s > 0
        start_s = np.maximum(at_s, self._free_s)
        end_s = np.where(needs, start_s + need_s, at_s)
        if not self._in_order:
            late = needs & (at_s < self._free_s)
            if late.any():
                end_s = self._served_in_rest(at_s, need_s, late, end_s)
            self._remember(start_s, needs & (start_s > self._free_s))
        self._free_s = np.where(needs, np.maximum(end_s, self._free_s), self._free_s)
        return end_s

    def _served_in_rest(self, at_s: Array, need_s: Array, late: Array, end_s: Array) -> Array:
        """Return when tasks have been served, some of them in the first rest that they fit into."""
        early_s = np.maximum(at_s, self._rests_s) + need_s
        early_s = np.where(early_s <= self._rests_end_s, early_s, np.inf)
        place = early_s.argmin(0)
        first_s = early_s[place, self._columns]
        fits = late & (first_s < end_s)
        columns = self._columns[fits]
        self._rests_s[place[fits], columns] = first_s[fits]
        return np.where(fits, first_s, end_s)

    def _remember(self, start_s: Array, rested: Array) -> None:
        """Keep the rest before a task in place of the shortest one."""
        if not rested.any():
            return
        place = (self._rests_end_s - self._rests_s).argmin(0)[rested]
        columns = self._columns[rested]
        longer = start_s[rested] - self._free_s[rested] > (self._rests_end_s - self._rests_s)[place, columns]
        place, columns = place[longer], columns[longer]
        self._rests_s[place, columns] = self._free_s[columns]
        self._rests_end_s[place, columns] = start_s[columns]


class Readers:
    """Readers, of which the one that is free first takes the next task.

    Args:
        count: How many each sample has, int, shape (samples,).
    """

    def __init__(self, count: Array) -> None:
        numbers = np.arange(max(1, int(count.max())))[:, None]
        self._free_s = np.where(numbers < np.maximum(count, 1), 0.0, np.inf)
        self._columns = np.arange(len(count))

    def first(self) -> tuple[Array, Array]:
        """Return which reader is free first in each sample, and when."""
        if len(self._free_s) == 1:
            return np.zeros(len(self._columns), int), self._free_s[0]
        place = self._free_s.argmin(0)
        return place, self._free_s[place, self._columns]

    def busy(self, place: Array, until_s: Array) -> None:
        """Let these readers be busy until then."""
        self._free_s[place, self._columns] = until_s
