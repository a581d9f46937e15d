"""What takes a second look at calls, once their totals are known: percentiles, and the busiest threads."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.counted_values import NamedCounts, counted, merged_counts
from tfdarshan.analysis.named_rows import NamedRows, no_rows
from tfdarshan.analysis.spread_calls import merged_spread, spread_rows
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import TimeWindow
from tfdarshan.analysis.window_calls import ThreadKey, WindowCalls, window_calls
from tfdarshan.native.call_sums import (
    BIN_SUMS,
    DURATION_CELLS,
    SIZES,
    duration_cells,
)

# (kind of call, module, size bucket), and a cell of its durations.
WantedCell = tuple[tuple[str, str, int], int]


@dataclass(frozen=True)
class DetailsPartial:
    """What was found.

    Attributes:
        durations: Of each wanted cell, the durations in it.
        over_time: By place among the shown threads, BIN_SUMS numbers of each part of time; last, the others.
    """

    durations: NamedCounts
    over_time: NamedRows
    version: int = 1


@dataclass(frozen=True)
class CallDetails:
    """Looks at calls again.

    Attributes:
        wanted: The cells whose durations are wanted one by one.
        shown: The threads that are told apart.
        bins: The parts of time.
    """

    wanted: frozenset[WantedCell]
    shown: tuple[ThreadKey, ...]
    bins: TimeBins

    def empty(self) -> DetailsPartial:
        """See `Question.empty`."""
        return DetailsPartial({}, no_rows(self.bins.count, BIN_SUMS))

    def map(self, task: TimeWindow) -> DetailsPartial:
        """See `Question.map`."""
        calls = window_calls(task, files=False)
        return DetailsPartial(self._durations(calls), self._over_time(calls))

    def merge(self, one: DetailsPartial, other: DetailsPartial) -> DetailsPartial:
        """See `Question.merge`."""
        durations = merged_counts(one.durations, other.durations)
        return DetailsPartial(durations, merged_spread(one.over_time, other.over_time))

    def finish(self, partial: DetailsPartial) -> DetailsPartial:
        """See `Question.finish`."""
        return partial

    def _durations(self, calls: WindowCalls) -> NamedCounts:
        begun = calls.begun
        place = duration_cells(begun, calls.operation[calls.own], calls.error[calls.own])
        kinds = {(kind.name, kind.module): code for code, kind in enumerate(calls.operations)}
        names: dict[int, Hashable] = {}
        for cell in self.wanted:
            (operation, module, size), within = cell
            if (operation, module) in kinds:
                group = kinds[operation, module] * SIZES + size
                names[group * DURATION_CELLS + within] = cell
        # One place more, for calls that failed: these have place -1.
        is_wanted = np.zeros(len(calls.operations) * SIZES * DURATION_CELLS + 1, bool)
        is_wanted[list(names)] = True
        chosen = np.flatnonzero(is_wanted[place])
        place, taken = place[chosen], begun.end_ns[chosen] - begun.start_ns[chosen]
        order = np.argsort(place, kind="stable")
        found, first = np.unique(place[order], return_index=True)
        parts = np.split(taken[order], first[1:])
        return {names[cell]: counted(part) for cell, part in zip(found.tolist(), parts, strict=False)}

    def _over_time(self, calls: WindowCalls) -> NamedRows:
        shown = {key: place for place, key in enumerate(self.shown)}
        row_of = np.array([shown.get(key, len(shown)) for key in calls.threads] or [0], np.int32)
        return spread_rows(calls.begun, row_of[calls.thread[calls.own]], range(len(shown) + 1), self.bins)
