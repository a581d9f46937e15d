"""What the metadata says of thinned calls, and the sentence that goes with them: see `thinned_activity`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdarshan.units import human_seconds

TABLE = "thinned"


def resolution_ns(meta: dict[str, Any]) -> int:
    """Return the resolution of a process's thinned calls; 0 if it has none, or all calls are there."""
    return int((meta.get(TABLE) or {}).get("resolution_ns", 0))


def sample_sentence(metas: Sequence[dict[str, Any]]) -> str:
    """Say which calls a timeline of some processes has a sample of; "" if it has all of them."""
    cut = [meta for meta in metas if resolution_ns(meta)]
    if not cut:
        return ""
    origin_ns = min(meta["start_ns"] for meta in metas)
    began_ns = min(meta["start_ns"] + max(meta["time"].get("first_dropped_ns") or 0, 0) for meta in cut)
    shortest, longest = (human_seconds(of(map(resolution_ns, cut)) / 1e9) for of in (min, max))
    shorter = shortest if shortest == longest else f"{shortest} to {longest} (by process)"
    each = shortest if shortest == longest else "such time"
    return (
        f"From {human_seconds((began_ns - origin_ns) / 1e9)} on, calls shorter than {shorter} are a sample: "
        f"one for each {each} that they took."
    )
