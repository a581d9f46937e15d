"""What found no room in the trace, and the bounds that would have given it room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.options import Options, keeps_trace


@dataclass(frozen=True)
class TraceRoom:
    """Of all processes of a session.

    Attributes:
        dropped_calls: Calls that a bound of the trace left without a segment, of processes that keep a trace.
        enough: Options with which the fullest process's trace would have held all, in powers of two;
            None where such options are refused.
    """

    dropped_calls: int
    enough: Options | None


def trace_room(metas: Sequence[dict[str, Any]]) -> TraceRoom:
    """Reads it from the processes' metadata."""
    cut = [
        meta
        for meta in metas
        if keeps_trace(meta.get("options", {})) and meta["counts"].get("events_dropped")
    ]
    if not cut:
        return TraceRoom(0, None)
    return TraceRoom(
        sum(int(meta["counts"]["events_dropped"]) for meta in cut),
        _enough(cut[0].get("options", {}), max(map(_times_too_small, cut))),
    )


def _times_too_small(meta: dict[str, Any]) -> float:
    kept = int(meta["counts"]["segments"])
    return (kept + int(meta["counts"]["events_dropped"])) / max(kept, 1)


def _enough(given: dict[str, Any], times: float) -> Options | None:
    """Gives larger bounds; what is left of the cap for the rest stays as it is."""
    bounds = {name: given[name] for name in ("memory_cap_mb", "trace_memory_mb") if name in given}
    try:
        old = Options(**bounds)
        trace_mb = 1 << (int(old.trace_limit_mb * times) - 1).bit_length()
        cap_mb = old.memory_cap_mb - old.trace_limit_mb + trace_mb
        return Options(memory_cap_mb=cap_mb, trace_memory_mb=trace_mb)
    except ConfigurationError:
        return None
