"""What ran within steps whose recording does not say so, as questions: the windows' parts add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.analysis.named_rows import NamedRows, no_rows
from tfdarshan.analysis.segments import META, READ, WRITE
from tfdarshan.analysis.spread_calls import merged_spread, rounded_bytes, spread_rows
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.time_windows import TimeWindow
from tfdarshan.analysis.window_calls import window_calls
from tfdarshan.native.call_sums import BIN_SUMS, Calls

LONG_AGO_NS, NEVER_NS = -(1 << 62), 1 << 62
# Bytes before a moment are known to within one part in so many of the session.
PARTS = 65_536


@dataclass(frozen=True)
class SpanPartial:
    """From the start of the first call to the end of the last one."""

    first_ns: int = NEVER_NS
    last_ns: int = LONG_AGO_NS
    version: int = 1


@dataclass(frozen=True)
class MovingSpan:
    """When the calls that moved bytes ran."""

    def empty(self) -> SpanPartial:
        """See `Question.empty`."""
        return SpanPartial()

    def map(self, task: TimeWindow) -> SpanPartial:
        """See `Question.map`."""
        moving = moving_of(window_calls(task, files=False).begun)
        return SpanPartial(
            int(moving.start_ns.min(initial=NEVER_NS)), int(moving.end_ns.max(initial=LONG_AGO_NS))
        )

    def merge(self, one: SpanPartial, other: SpanPartial) -> SpanPartial:
        """See `Question.merge`."""
        return SpanPartial(min(one.first_ns, other.first_ns), max(one.last_ns, other.last_ns))

    def finish(self, partial: SpanPartial) -> TimeBins | None:
        """Divides it, None if nothing was moved."""
        if partial.first_ns > partial.last_ns:
            return None
        length_ns = partial.last_ns - partial.first_ns
        return TimeBins(partial.first_ns, max(1, -(-length_ns // PARTS)), PARTS)


@dataclass(frozen=True)
class StepIoPartial:
    """Of each step the time with a call running, and the calls that began in it; bytes over time."""

    io_ns: tuple[int, ...]
    calls: tuple[int, ...]
    moved: NamedRows
    version: int = 1


@dataclass(frozen=True)
class StepIo:
    """What ran within steps.

    Attributes:
        start_ns: Where each begins.
        end_ns: Where each ends.
        bins: What `MovingSpan` gives, None if nothing was moved.
    """

    start_ns: tuple[int, ...]
    end_ns: tuple[int, ...]
    bins: TimeBins | None

    def empty(self) -> StepIoPartial:
        """See `Question.empty`."""
        nothing = (0,) * len(self.start_ns)
        return StepIoPartial(nothing, nothing, no_rows(0 if self.bins is None else PARTS, BIN_SUMS))

    def map(self, task: TimeWindow) -> StepIoPartial:
        """See `Question.map`."""
        calls = window_calls(task, files=False)
        cut, begun = calls.cut, calls.begun
        start, end = np.array(self.start_ns, np.int64), np.array(self.end_ns, np.int64)
        io_ns = covered(*cut.times_ns).within(start, end)
        count = np.searchsorted(begun.start_ns, end) - np.searchsorted(begun.start_ns, start)
        moved = self.empty().moved
        if self.bins is not None:
            moving = moving_of(begun)
            moved = spread_rows(moving, moving.io_class, (READ, WRITE), self.bins)
        return StepIoPartial(tuple(io_ns.tolist()), tuple(count.tolist()), moved)

    def merge(self, one: StepIoPartial, other: StepIoPartial) -> StepIoPartial:
        """See `Question.merge`."""
        return StepIoPartial(
            _added(one.io_ns, other.io_ns),
            _added(one.calls, other.calls),
            merged_spread(one.moved, other.moved),
        )

    def finish(self, partial: StepIoPartial) -> tuple[Array, Array, Array]:
        """Gives the time with a call running, in ns, bytes, and calls of each step, int64."""
        io_ns, calls = (np.array(values, np.int64) for values in (partial.io_ns, partial.calls))
        if self.bins is None:
            return io_ns, np.zeros(len(io_ns), np.int64), calls
        bytes_moved = sum(rounded_bytes(partial.moved.row(io_class)) for io_class in (READ, WRITE))
        reached = np.concatenate([[0], np.cumsum(bytes_moved)])
        before = [
            np.interp(moments, self.bins.edges_ns(), reached) for moments in (self.start_ns, self.end_ns)
        ]
        return io_ns, np.rint(before[1] - before[0]).astype(np.int64), calls


def moving_of(calls: Calls) -> Calls:
    """Gives those that moved bytes."""
    chosen = np.flatnonzero((calls.io_class != META) & (calls.length > 0))
    start, end, length = (values[chosen] for values in (calls.start_ns, calls.end_ns, calls.length))
    return Calls(start, end, length, calls.io_class[chosen])


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
