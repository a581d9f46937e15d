"""What found no room in the trace, and the bounds that would have given it room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.analysis.calls.trace_span import dropped_calls
from tfdarshan.errors import ConfigurationError
from tfdarshan.options import Options


@dataclass(frozen=True)
class TraceRoom:
    """Of all processes of a session.

    Attributes:
        dropped_calls: Calls that a bound of the trace left without a segment, of processes that keep a trace.
        enough: Options with which the traces would have held all, in powers of two;
            None where such options are refused.
    """

    dropped_calls: int
    enough: Options | None


def trace_room(metas: Sequence[dict[str, Any]]) -> TraceRoom:
    """Reads it from the processes' metadata."""
    cut = [meta for meta in metas if dropped_calls([meta])]
    if not cut:
        return TraceRoom(0, None)
    return TraceRoom(dropped_calls(cut), _enough(cut[0].get("options", {}), _times_too_small(metas)))


def _times_too_small(metas: Sequence[dict[str, Any]]) -> float:
    """Gives how many times as many segments the trace would need room for: processes of a rank share it."""
    kept: Counter[int] = Counter()
    made: Counter[int] = Counter()
    for meta in metas:
        rank = (meta.get("job") or {}).get("rank", 0)
        kept[rank] += int(meta["counts"]["segments"])
        made[rank] += int(meta["counts"]["segments"]) + int(meta["counts"].get("events_dropped", 0))
    return max(made[rank] / max(kept[rank], 1) for rank in made)


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
