"""Which part of a session its trace covers: a bound of memory may have left later calls without a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.options import keeps_trace
from tfdarshan.units import human_seconds, percent, plural


@dataclass(frozen=True)
class TraceSpan:
    """Of a session whose trace lacks some calls.

    Attributes:
        until_s: Seconds since the session's start; every call of every process that began before has a
            segment. None where nothing says when the first one without began.
        duration_s: How long the session is.
        dropped_calls: Calls without a segment.
        sentence: What to say beside everything that rests on single calls.
    """

    until_s: float | None
    duration_s: float
    dropped_calls: int
    sentence: str


def trace_span(metas: Sequence[dict[str, Any]]) -> TraceSpan | None:
    """Gives the span that all processes' traces cover; None if they lack no call, or no trace was kept."""
    cut = [meta for meta in metas if _dropped(meta)]
    if not cut:
        return None
    origin_ns = min(meta["start_ns"] for meta in metas)
    duration_s = (max(meta["start_ns"] + meta["duration_ns"] for meta in metas) - origin_ns) / 1e9
    ends_ns = [_complete_until_ns(meta) for meta in cut]
    known_ns = [end_ns for end_ns in ends_ns if end_ns is not None]
    until_s = None
    if len(known_ns) == len(ends_ns):
        until_s = min(max((min(known_ns) - origin_ns) / 1e9, 0.0), duration_s)
    dropped = dropped_calls(cut)
    return TraceSpan(until_s, duration_s, dropped, _sentence(until_s, duration_s, dropped))


def dropped_calls(metas: Sequence[dict[str, Any]]) -> int:
    """Return the calls that a bound of the trace left without a segment, of processes that keep a trace."""
    return sum(map(_dropped, metas))


def _dropped(meta: dict[str, Any]) -> int:
    counted = int(meta["counts"].get("events_dropped") or 0)
    return counted if keeps_trace(meta.get("options", {})) else 0


def _complete_until_ns(meta: dict[str, Any]) -> int | None:
    """Gives when a process's first call without a segment began, in the session's ns."""
    first_ns = meta["time"].get("first_dropped_ns")
    return None if first_ns is None or first_ns < 0 else int(meta["start_ns"]) + int(first_ns)


def _sentence(until_s: float | None, duration_s: float, dropped: int) -> str:
    lacks = f"The trace lacks {plural(dropped, 'call')}"
    rests = (
        f"what rests on single calls leaves {'it' if dropped == 1 else 'them'} out, the counters have all."
    )
    if until_s is None:
        return f"{lacks}, and when {'it was' if dropped == 1 else 'they were'} made is not known: {rests}"
    if until_s <= 0:
        return f"{lacks} from the session's start on: {rests}"
    return (
        f"The trace has all calls of the first {human_seconds(until_s)} of {human_seconds(duration_s)} "
        f"({percent(until_s, duration_s)}): what rests on single calls speaks of that time, "
        "the counters of all."
    )
