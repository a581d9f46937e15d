"""Files that storage serves slowly, and a local disk would serve quickly."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.finding import Cure, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "staging"
# What a pass over a file on a local SSD takes: a time of its own and a time per byte. `tfdarshan advise`
# measures the real one.
FAST_PASS_S, FAST_S_PER_BYTE = 150e-6, 1 / 1e9
# Less than this is no input that anybody would copy.
LEAST_BYTES = 1 << 20
# The files that give this share of the gain are the hot ones.
MOST_OF_IT = 0.9


def find(measures: Measures) -> Finding | None:
    """Finds them where a fast tier would save time."""
    costs = measures.costs
    passes = np.maximum(costs.opens, costs.reads > 0)
    share = costs.slow_bytes / np.maximum(costs.read_bytes, 1)
    slow_s = costs.slow_s + costs.other_s * share
    fast_s = (passes * FAST_PASS_S + costs.read_bytes * FAST_S_PER_BYTE) * share
    saved = np.maximum(slow_s - fast_s, 0)
    whole, calls_s = float(saved.sum()), float(costs.call_s.sum())
    if whole <= 0 or calls_s <= 0 or float(costs.slow_bytes.sum()) < LEAST_BYTES:
        return None
    calls = measures.input_calls
    gain, stall_s = measures.without(calls.scaled(whole / calls_s), 0.75, 1.0, 1.1)
    size = np.where(measures.sizes > 0, measures.sizes, costs.read_bytes / np.maximum(passes, 1))
    order = np.argsort(-saved / np.maximum(size, 1), kind="stable")
    order = order[saved[order] > 0]
    reached = np.cumsum(saved[order])
    hot = order[: int(np.searchsorted(reached, MOST_OF_IT * whole)) + 1]
    hot_bytes, all_bytes = float(size[hot].sum()), float(size[order].sum())
    storage_bytes, slow, fast = (float(values.sum()) for values in (costs.slow_bytes, slow_s, fast_s))
    bandwidth = storage_bytes / max(slow, 1e-9)
    return Finding(
        name=NAME,
        kind="problem",
        title=f"storage serves the input at {human_bytes(bandwidth)}/s a reader",
        what=f"{human_bytes(all_bytes)} in {len(order):,} files come from storage that is slower than a "
        f"local disk; {human_bytes(hot_bytes)} of them in {len(hot):,} files give {percent(MOST_OF_IT, 1)} "
        f"of the gain.",
        evidence=(
            Evidence("from storage", human_bytes(storage_bytes), storage_bytes),
            Evidence("time in it, over all threads", human_seconds(slow), slow),
            Evidence("the same on a local SSD (assumed)", human_seconds(fast), fast),
            Evidence("hot files", f"{len(hot):,} of {len(order):,}", len(hot)),
            Evidence("their size", human_bytes(hot_bytes), hot_bytes),
        ),
        files=measures.paths_of(hot),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        stall_s=stall_s,
        cure=Cure(
            f"Stage {human_bytes(all_bytes)} to a local disk.",
            "tfdarshan advise --logdir LOGDIR --fast DIR -o plan.json && tfdarshan stage apply plan.json",
        ),
        gain=gain,
        not_worth="for a single epoch: the copy reads everything once. `tfdarshan advise` measures the fast "
        "tier, and says after how many epochs it pays",
    )
