"""What recording took of a session's processor time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class OwnCost:
    """Processor time of recording, in seconds.

    Attributes:
        recording_s: Of recorded calls, and of threads of tfdarshan.
        session_s: Of the job and its children during the session, recording included.
        share: The one of the other, 0 to 1.
        attach_s: Wall time of attaching; of several ranks the longest.
        detach_s: Wall time of detaching, before the session is written; of several ranks the longest.
    """

    recording_s: float
    session_s: float
    share: float
    attach_s: float
    detach_s: float


def own_cost(metas: Sequence[dict[str, Any]], opens: int) -> OwnCost | None:
    """Return what recording took, summed over processes; None where a host's cost of a call is not known.

    Exact counts of calls are multiplied by what recording adds to a read and to an open with its close, as
    each host measured it at the session's start. Opens are counted for all hosts together, and distributed
    like calls.

    Args:
        metas: Metadata of the session's processes.
        opens: Recorded opens of all of them.
    """
    owners = [meta for meta in metas if meta.get("owner")]
    starts = {meta["host"]: (meta.get("attach") or {}).get("start") or {} for meta in owners}
    calls = Counter[str]()
    for meta in metas:
        calls[meta["host"]] += meta["counts"]["events"]
    session_s = sum((meta.get("machine") or {}).get("cpu_s") or 0.0 for meta in owners)
    if session_s <= 0 or not all(starts.get(host, {}).get("transfer_cost_ns") for host in calls):
        return None
    every = max(calls.total(), 1)
    calls_ns = sum(
        count * starts[host]["transfer_cost_ns"] + opens * count / every * _beside_transfers(starts[host])
        for host, count in calls.items()
    )
    recording_s = min((calls_ns + sum(map(_threads_ns, metas))) / 1e9, session_s)
    return OwnCost(
        recording_s=recording_s,
        session_s=session_s,
        share=recording_s / session_s,
        attach_s=_longest_s(owners, "start"),
        detach_s=_longest_s(owners, "stop"),
    )


def _beside_transfers(start: dict[str, Any]) -> int:
    """Return what an open and its close cost beside two reads, in nanoseconds."""
    return max(int(start["open_cost_ns"]) - 2 * int(start["transfer_cost_ns"]), 0)


def _threads_ns(meta: dict[str, Any]) -> int:
    """Return what the threads took that fold calls and watch mapped files."""
    return int(meta.get("folding", {}).get("thread_ns", 0) + meta.get("mapping", {}).get("cost_ns", 0))


def _longest_s(owners: Sequence[dict[str, Any]], moment: str) -> float:
    moments = ((owner.get("attach") or {}).get(moment) or {} for owner in owners)
    return float(max(one.get("elapsed_ns", 0) for one in moments)) / 1e9
