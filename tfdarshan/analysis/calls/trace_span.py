"""Which part of a session its trace covers: a bound of memory may have left later calls without a segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.options import Options, keeps_trace
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
    """Return the span that all processes' traces cover; None if they lack no call, or no trace was kept."""
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
    """Return when a process's first call without a segment began, in the session's ns."""
    first_ns = meta["time"].get("first_dropped_ns")
    return None if first_ns is None or first_ns < 0 else int(meta["start_ns"]) + int(first_ns)


def _sentence(until_s: float | None, duration_s: float, dropped: int) -> str:
    lacks = f"The trace lacks {plural(dropped, 'call')}"
    rests = (
        f"figures of single calls leave {'it' if dropped == 1 else 'them'} out, counters include all calls."
    )
    if until_s is None:
        return f"{lacks}, and it is not known when {'it was' if dropped == 1 else 'they were'} made: {rests}"
    if until_s <= 0:
        return f"{lacks} from the session's start on: {rests}"
    return (
        f"The trace has all calls of the first {human_seconds(until_s)} of {human_seconds(duration_s)} "
        f"({percent(until_s, duration_s)}): figures of single calls are of that time, "
        "counters of all of it."
    )


@dataclass(frozen=True)
class DroppedEvents:
    """Of all processes of a session.

    Attributes:
        dropped_calls: Calls that a bound of the trace left without a segment, of processes that keep a trace.
        enough: Options with which the traces would have held all, in powers of two;
            None where such options are refused.
    """

    dropped_calls: int
    enough: Options | None


def dropped_events(metas: Sequence[dict[str, Any]]) -> DroppedEvents:
    """Read it from the processes' metadata."""
    cut = [meta for meta in metas if dropped_calls([meta])]
    if not cut:
        return DroppedEvents(0, None)
    return DroppedEvents(dropped_calls(cut), _enough(cut[0].get("options", {}), _times_too_small(metas)))


def _times_too_small(metas: Sequence[dict[str, Any]]) -> float:
    """Return how many times as many segments the trace would need room for: processes of a rank share it."""
    kept: Counter[int] = Counter()
    made: Counter[int] = Counter()
    for meta in metas:
        rank = (meta.get("job") or {}).get("rank", 0)
        kept[rank] += int(meta["counts"]["segments"])
        made[rank] += int(meta["counts"]["segments"]) + int(meta["counts"].get("events_dropped", 0))
    return max(made[rank] / max(kept[rank], 1) for rank in made)


def _enough(given: dict[str, Any], times: float) -> Options | None:
    """Return larger bounds; what is left of the cap for the rest stays as it is."""
    bounds = {name: given[name] for name in ("memory_cap_mb", "trace_memory_mb") if name in given}
    try:
        old = Options(**bounds)
        trace_mb = 1 << (int(old.trace_limit_mb * times) - 1).bit_length()
        cap_mb = old.memory_cap_mb - old.trace_limit_mb + trace_mb
        return Options(memory_cap_mb=cap_mb, trace_memory_mb=trace_mb)
    except ConfigurationError:
        return None
