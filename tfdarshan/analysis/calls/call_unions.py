"""The time in which calls of all processes were running, as a question: its partial is a few integers.

Each window's calls are cut to it, so that the windows' unions add up to that of the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array, RunningUnion
from tfdarshan.analysis.calls.segments import CLASSES, Segments
from tfdarshan.analysis.calls.time_windows import TimeWindow
from tfdarshan.sessions.process_data import ProcessData

# The union of all calls, then that of each class.
UNIONS = 1 + len(CLASSES)
COLUMNS = ("start_ns", "end_ns", "operation")
NOTHING_NS = (0,) * UNIONS
# Intervals that are kept until they are united, and those that a window may have when they are.
PENDING, MOST_INTERVALS = 1 << 20, 1 << 22

Intervals = tuple[Array, Array]


@dataclass(frozen=True)
class UnionPartial:
    """Lengths of unions in ns, in the order of UNIONS: of all processes, and of some by themselves."""

    together_ns: tuple[int, ...]
    apart_ns: tuple[tuple[int, ...], ...]
    version: int = 1


@dataclass(frozen=True)
class CallUnions:
    """How long calls were running.

    Attributes:
        apart: Places of the processes whose own unions are wanted, too.
        most: Intervals that a window is held in memory with; one with more is divided.
    """

    apart: tuple[int, ...] = ()
    most: int = MOST_INTERVALS

    def empty(self) -> UnionPartial:
        """See `Question.empty`."""
        return UnionPartial(NOTHING_NS, (NOTHING_NS,) * len(self.apart))

    def map(self, task: TimeWindow) -> UnionPartial:
        """See `Question.map`."""
        found = self._union_or_middle(task)
        if isinstance(found, UnionPartial):
            return found
        one, other = (self.map(half) for half in task.halves(found))
        return self.merge(one, other)

    def _union_or_middle(self, task: TimeWindow) -> UnionPartial | int:
        """Return a window's partial, or the moment to divide it at if it has too many intervals."""
        unions, apart = tuple(_Union() for _ in CLASSES), dict.fromkeys(self.apart, NOTHING_NS)
        for place, process in zip(task.places, task.processes, strict=True):
            own = _unions()
            for start, end, kind in _calls(process, task):
                if place in apart:
                    _add_to_each(own, start, end, kind)
                for number, union in enumerate(unions):
                    of_class = kind == number
                    union.add(start[of_class], end[of_class])
                fullest = max(unions, key=lambda union: union.count)
                if fullest.count > self.most:
                    return fullest.middle_ns
            if place in apart:
                apart[place] = _sums(own)
        parts = [union.intervals() for union in unions]
        together = [_united([start for start, _ in parts], [end for _, end in parts]), *parts]
        sums = tuple(int((end - start).sum()) for start, end in together)
        return UnionPartial(sums, tuple(apart.values()))

    def of_segments(self, segments: Segments) -> UnionPartial:
        """Return the partial of calls that are in memory, in order of start: nothing has to be divided."""
        together, apart = _unions(), {place: _unions() for place in self.apart}
        process_of = np.array([thread.process for thread in segments.threads] or [0])
        for block in segments.blocks():
            calls = (block.start_ns, block.end_ns, block.io_class)
            _add_to_each(together, *calls)
            made_by = process_of[block.thread]
            for place, own in apart.items():
                _add_to_each(own, *(column[made_by == place] for column in calls))
        return UnionPartial(_sums(together), tuple(_sums(own) for own in apart.values()))

    def merge(self, one: UnionPartial, other: UnionPartial) -> UnionPartial:
        """See `Question.merge`."""
        pairs = zip(one.apart_ns, other.apart_ns, strict=True)
        return UnionPartial(
            _added(one.together_ns, other.together_ns), tuple(_added(*pair) for pair in pairs)
        )


class _Union:
    """A union of intervals that come in any order, kept as disjoint intervals in order."""

    def __init__(self) -> None:
        self._start: list[Array] = []
        self._end: list[Array] = []
        self._pending = 0
        self.count = 0

    @property
    def middle_ns(self) -> int:
        """The moment that as many intervals begin before as after; none begins before the first one."""
        start, _ = self.intervals()
        return int(start[len(start) // 2])

    def add(self, start_ns: Array, end_ns: Array) -> None:
        """Add intervals in order of start."""
        reached = np.maximum.accumulate(end_ns)
        heads = np.flatnonzero(start_ns[1:] > reached[:-1])
        if len(start_ns):
            self._start.append(start_ns[np.append(0, heads + 1)])
            self._end.append(reached[np.append(heads, len(reached) - 1)])
            self._pending += len(heads) + 1
        if self._pending > PENDING:
            self.intervals()

    def intervals(self) -> Intervals:
        """Return the union so far."""
        if self._pending:
            start, end = _united(self._start, self._end)
            self._start, self._end, self._pending, self.count = [start], [end], 0, len(start)
        nothing = np.zeros(0, np.int64)
        return (self._start[0], self._end[0]) if self._start else (nothing, nothing)


def _united(starts: list[Array], ends: list[Array]) -> Intervals:
    """Unite intervals: nothing runs between two moments where as many have ended as have begun."""
    start, end = np.concatenate(starts), np.concatenate(ends)
    start.sort(kind="stable")
    end.sort(kind="stable")
    heads = np.flatnonzero(start[1:] > end[:-1])
    return start[np.append(0, heads + 1)[: len(start)]], end[np.append(heads, len(end) - 1)[: len(end)]]


def _unions() -> tuple[RunningUnion, ...]:
    return tuple(RunningUnion() for _ in range(UNIONS))


def _sums(unions: tuple[RunningUnion, ...]) -> tuple[int, ...]:
    return tuple(union.sum_ns for union in unions)


def _add_to_each(unions: tuple[RunningUnion, ...], start_ns: Array, end_ns: Array, kind: Array) -> None:
    for place, union in enumerate(unions):
        chosen = slice(None) if place == 0 else kind == place - 1
        union.add(start_ns[chosen], end_ns[chosen])


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _calls(process: ProcessData, window: TimeWindow) -> Iterator[tuple[Array, Array, Array]]:
    """Yield a process's calls, cut to a window: start, end and class."""
    class_of = {operation["name"]: CLASSES.index(operation["io_class"]) for operation in process.operations}
    bounds = (window.from_ns, window.until_ns)
    for batch in process.event_batches(COLUMNS, [bounds]):
        operation = batch.column("operation")
        known = np.array([class_of[name] for name in operation.dictionary.to_pylist()] or [0], np.int8)
        start, end = (batch.column(name).to_numpy() for name in COLUMNS[:2])
        kind = known[operation.indices.to_numpy()]
        if len(start) and (start.min() < window.from_ns or end.max() > window.until_ns):
            start, end = (np.clip(times, *bounds) for times in (start, end))
        kept = start < end
        if not kept.all():
            start, end, kind = start[kept], end[kept], kind[kept]
        yield start, end, kind
