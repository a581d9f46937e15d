"""What calls were, in sums that merge: by what they were, by how long they took, and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.call_durations import CallDurations, DurationsPartial
from tfdarshan.analysis.file_places import FilePlaces, Places, file_places
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.named_rows import NamedRows, merged_rows, named_rows, no_rows
from tfdarshan.analysis.segments import CLASSES
from tfdarshan.analysis.spread_calls import as_c, merged_spread, spread_rows
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import TimeWindow
from tfdarshan.analysis.window_calls import WindowCalls, window_calls
from tfdarshan.native.call_sums import (
    BIN_SUMS,
    GROUP_SUMS,
    deepest,
    group_sums,
)

# What calls are added up by: "session" has one group, which is all of them; "process" is a host and a process
# id, "place" where its tables stand among those of the session: one for many ranks of an imported log.
BY = ("session", "operation", "thread", "process", "place", "mount", "folder")
ALL = ""


@dataclass(frozen=True)
class TotalsPartial:
    """Sums over calls.

    Attributes:
        groups: For each of BY, GROUP_SUMS numbers by name.
        durations: How long they took.
        over_time: By class of calls, BIN_SUMS numbers of each part of time.
        most: The highest number of calls at a time in each part of time.
    """

    groups: dict[str, NamedRows]
    durations: DurationsPartial
    over_time: NamedRows
    most: tuple[int, ...]
    version: int = 1


@dataclass(frozen=True)
class CallTotals:
    """Adds up calls.

    Attributes:
        bins: The parts of time.
    """

    bins: TimeBins

    def empty(self) -> TotalsPartial:
        """See `Question.empty`."""
        return TotalsPartial(
            {by: no_rows(GROUP_SUMS) for by in BY},
            CallDurations().empty(),
            no_rows(self.bins.count, BIN_SUMS),
            (0,) * self.bins.count,
        )

    def map(self, task: TimeWindow) -> TotalsPartial:
        """See `Question.map`."""
        calls = window_calls(task)
        durations = CallDurations().of_calls(calls)
        return TotalsPartial(_groups(calls), durations, self._over_time(calls), self._most(calls))

    def merge(self, one: TotalsPartial, other: TotalsPartial) -> TotalsPartial:
        """See `Question.merge`."""
        return TotalsPartial(
            {by: merged_rows(one.groups[by], other.groups[by]) for by in BY},
            CallDurations().merge(one.durations, other.durations),
            merged_spread(one.over_time, other.over_time),
            tuple(map(max, one.most, other.most)),
        )

    def finish(self, partial: TotalsPartial) -> TotalsPartial:
        """See `Question.finish`: tables are made of the sums where they are asked for."""
        return partial

    def _over_time(self, calls: WindowCalls) -> NamedRows:
        begun = calls.begun
        return spread_rows(begun, begun.io_class, range(len(CLASSES)), self.bins)

    def _most(self, calls: WindowCalls) -> tuple[int, ...]:
        return tuple(deepest(calls.cut, as_c(self.bins)).tolist())


def _groups(calls: WindowCalls) -> dict[str, NamedRows]:
    cut, guests = calls.cut, calls.guests
    places = [file_places(process) for process in calls.window.processes]

    def sums(group: Array, names: Sequence[Any]) -> NamedRows:
        return named_rows(names, group_sums(cut, guests, group, max(len(names), 1)))

    def placed(of: Callable[[FilePlaces], Places]) -> NamedRows:
        return sums(*_joined(calls, [of(one) for one in places]))

    found = {
        "operation": sums(calls.operation.astype(np.int32), [kind.name for kind in calls.operations]),
        "thread": sums(calls.thread, calls.threads),
        "process": sums(*_by_process(calls)),
        "mount": placed(lambda one: one.mounts),
        "folder": placed(lambda one: one.folders),
    }
    if len(places) == 1 and len(found["process"].names) == 1:
        # One process is the session, and one place.
        rows = found["process"].rows
        return found | {"session": NamedRows((ALL,), rows), "place": NamedRows(calls.window.places, rows)}
    together = sums(np.zeros(len(cut), np.int32), [ALL])
    return found | {"session": together, "place": sums(calls.process, calls.window.places)}


def _by_process(calls: WindowCalls) -> tuple[Array, list[str]]:
    """Gives each call's place among the processes' names, and these."""
    hosts = dict(zip(calls.window.places, (one.meta["host"] for one in calls.window.processes), strict=True))
    names = [f"{hosts[place]}:{pid}" for place, pid, _ in calls.threads]
    unique = list(dict.fromkeys(names))
    of_thread = np.array([unique.index(name) for name in names] or [0], np.int32)
    return of_thread[calls.thread], unique


def _joined(calls: WindowCalls, places: Sequence[Places]) -> tuple[Array, Sequence[str]]:
    """Gives each call's place among the names of all processes, and these."""
    if len(places) == 1:
        return places[0].of(calls.file), places[0].names
    names = {name: place for place, name in enumerate(dict.fromkeys(n for one in places for n in one.names))}
    codes = np.zeros(len(calls.file), np.int32)
    for process, one in enumerate(places):
        mine = np.flatnonzero(calls.process == process)
        codes[mine] = np.array([names[name] for name in one.names], np.int32)[one.of(calls.file[mine])]
    return codes, list(names)
