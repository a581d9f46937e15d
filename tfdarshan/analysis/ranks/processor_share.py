"""How much of the processors other programs took while a session was recorded: times are longer for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import percent

# Share of the processors from which other programs are worth a word: runs of one job differ by as much.
WORTH_A_WORD = THRESHOLD["hardly"]


def others_share(meta: Sequence[dict[str, Any]]) -> float | None:
    """Return the share of the processors that other programs took, mean, 0 to 1; None if no process says.

    Of several hosts that of the busiest one. Ranks of one host are no other programs to each other.

    Args:
        meta: Metadata of a session's processes.
    """
    hosts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in meta:
        if one.get("machine", {}).get("others_cpus") is not None and one["machine"].get("cpus"):
            hosts[one["host"]].append(one)
    return max(map(_share_on_host, hosts.values()), default=None)


def others_sentence(share: float | None) -> str:
    """Return a sentence on what other programs took, "" if that is unknown or little."""
    if share is None or share < WORTH_A_WORD:
        return ""
    return f"Other programs took {percent(share, 1)} of the processors: time the job on an idle machine."


def _share_on_host(ranks: list[dict[str, Any]]) -> float:
    """Return what none of a host's ranks took."""
    own = [one["machine"]["cpu_s"] / max(one["duration_ns"] / 1e9, 1e-9) for one in ranks]
    busy = max(cpus + one["machine"]["others_cpus"] for cpus, one in zip(own, ranks, strict=True))
    cpus = max(one["machine"]["cpus"] for one in ranks)
    return float(min(max(busy - sum(own), 0.0) / cpus, 1.0))
