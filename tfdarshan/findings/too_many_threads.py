"""More reads at a time than the device bears: its bandwidth falls as the queue grows."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.finding import Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_bytes

NAME = "too_many_threads"
# A depth counts where it held for this share of the busy time.
SEEN = 0.03
# How much the bandwidth has to fall, and how much shallower the best depth has to be.
FALLS = 1.1
SHALLOWER = 0.7


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where a shallower queue moved more."""
    if not measures.traced:
        return measures.untraced(NAME, "what the device gives at what queue depth")
    levels = measures.pipeline.levels.iloc[1:]
    seconds, rate = levels["seconds"].to_numpy(), levels["bytes_per_s"].to_numpy()
    busy_s = float(seconds.sum())
    if busy_s <= 0:
        return None
    depth = levels.index.to_numpy()
    usual = float((depth * seconds).sum()) / busy_s
    now = float((rate * seconds).sum()) / busy_s
    rows = np.flatnonzero((seconds >= SEEN * busy_s) & (depth <= SHALLOWER * usual))
    if not len(rows) or now <= 0:
        return None
    best = rows[np.argmax(rate[rows])]
    if rate[best] < FALLS * now:
        return None
    quicker = 1 - now / float(rate[best])
    saved_s = quicker * measures.model.storage_s
    gain = measures.gain(0.3 * saved_s, 0.8 * saved_s, 1.3 * saved_s)
    n = int(depth[best])
    return Finding(
        name=NAME,
        kind="problem",
        title=f"{usual:.0f} reads at a time are more than the storage bears",
        what=f"With {usual:.1f} reads at a time it gives {human_bytes(now)}/s, with {n} it gives "
        f"{human_bytes(float(rate[best]))}/s.",
        evidence=(
            Evidence("queue depth", f"{usual:.1f}", usual),
            Evidence("bandwidth at it", f"{human_bytes(now)}/s", now),
            Evidence("best depth", f"{n}", n),
            Evidence("bandwidth at that", f"{human_bytes(float(rate[best]))}/s", float(rate[best])),
        ),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        cure=Cure(
            f"Read with {n} calls at a time.",
            f"dataset = dataset.map(load, num_parallel_calls={n})",
            f"dataset = dataset.map(load, num_parallel_calls={round(usual)})",
        ),
        gain=gain,
        not_worth="where decoding needs the threads: then read with few and decode with many, in two maps",
    )
