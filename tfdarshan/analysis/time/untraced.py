"""What calls without a segment did over time: exact sums, which a process's table "untraced" has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.time_bins import TimeBins
from tfdarshan.units import human_seconds

TABLE = "untraced"
# The name of a row of calls that are known as a sum.
NOT_TOLD_APART = "not told apart"
COLUMNS = ("start_ns", "end_ns", "calls", "bytes_read", "bytes_written", "busy_ns")


@dataclass(frozen=True)
class UntracedSums:
    """Of calls without a segment, in parts of time; each array is int64 and has one entry per part."""

    calls: Array
    bytes_read: Array
    bytes_written: Array
    busy_ns: Array

    def __add__(self, other: UntracedSums) -> UntracedSums:
        mine, others = (vars(sums).values() for sums in (self, other))
        return UntracedSums(*(one + more for one, more in zip(mine, others, strict=True)))


def untraced_parts(processes: Sequence[ProcessData], bins: TimeBins) -> Iterator[tuple[int, UntracedSums]]:
    """Yield the place of each process that has such calls, and what they did.

    A row that two parts of `bins` share is divided evenly. What is outside of `bins` is left out.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for place, process in enumerate(processes):
        if TABLE in process.meta["tables"]:
            table = process.table(TABLE, COLUMNS)
            start_ns, end_ns, *sums = (table[name].to_numpy() for name in COLUMNS)
            moments = np.maximum.accumulate(np.column_stack([start_ns, end_ns]).ravel())
            yield place, UntracedSums(*(_divided(moments, values, bins.edges_ns()) for values in sums))


def untraced_sums(processes: Sequence[ProcessData], bins: TimeBins) -> UntracedSums:
    """Return the sums of all processes."""
    nothing = np.zeros(bins.count, np.int64)
    return sum(
        (sums for _, sums in untraced_parts(processes, bins)),
        start=UntracedSums(nothing, nothing, nothing, nothing),
    )


def _divided(moments: Array, values: Array, edges_ns: Array) -> Array:
    """Return whole numbers that add up to `values`, if the edges are around all moments."""
    reached = np.cumsum(np.column_stack([np.zeros_like(values), values]).ravel())
    found: Array = np.diff(np.rint(np.interp(edges_ns, moments, reached)).astype(np.int64))
    return found


def unknown_from_ns(metas: Sequence[dict[str, Any]]) -> int | None:
    """Return when the first call began that is in no table, not even in a sum.

    None if there is none, or nothing says when it began.
    """
    return _first_dropped_ns(_lacking(metas))


def _lacking(metas: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [meta for meta in metas if _dropped(meta) and TABLE not in meta["tables"]]


def _dropped(meta: dict[str, Any]) -> int:
    return int(meta["counts"].get("events_dropped") or 0)


def _first_dropped_ns(metas: Sequence[dict[str, Any]]) -> int | None:
    """Return when the first call without a segment began; None if nothing says that."""
    known = [(meta["start_ns"], meta["time"].get("first_dropped_ns")) for meta in metas]
    return min((start + first for start, first in known if first is not None and first >= 0), default=None)


def untraced_sentence(metas: Sequence[dict[str, Any]], what: str) -> str:
    """Say from when on values are sums or unknown, or that they lack calls; "" if all calls have a segment.

    A session made of TensorFlow's trace lacks calls, all over its time: the trace has the longest ones.

    Args:
        metas: The processes' metadata.
        what: What is exact, such as "bytes per second are".
    """
    unknown_ns = unknown_from_ns(metas)
    summed_ns = _first_dropped_ns([meta for meta in metas if TABLE in meta["tables"]])
    from_ns = summed_ns if unknown_ns is None else unknown_ns
    left_out = sum(map(_dropped, _lacking(metas)))
    if unknown_ns is None and left_out:
        about = f"{what[:1].upper()}{what[1:]} those of the calls in the trace"
        return f"{about}, without {left_out:,} others. The counters of files have all."
    if from_ns is None:
        return ""
    since = human_seconds((from_ns - min(meta["start_ns"] for meta in metas)) / 1e9)
    if unknown_ns is None:
        return f"From {since} on, {what} exact sums over all calls."
    return f"From {since} on, {what} not known. Record with a larger trace_memory_mb."
