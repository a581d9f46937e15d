"""How long calls took, by kind and size."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.access_sizes import SIZE_LABELS, size_bucket
from tfdarshan.analysis.intervals import Array, group_order
from tfdarshan.analysis.segments import META, Segments

PERCENTILES = (50, 90, 99, 99.9)
NO_SIZE = len(SIZE_LABELS)


def latency(segments: Segments) -> pd.DataFrame:
    """Gives the distribution of the calls' durations; failed calls are left out.

    Returns:
        One row per kind of call and, for those that move bytes, Darshan's size bucket, in order of both:
        `operation`, `module`, `size` (its label, "" for other calls), `calls`, `bytes` (int64), `total_ns`
        (int64, summed over threads), `mean_ns` (float64), `p50_ns`, `p90_ns`, `p99_ns`, `p99_9_ns`, `max_ns`
        (int64). A percentile is the smallest duration that this share of the calls did not exceed.
    """
    good = np.flatnonzero(segments.error == 0)
    operation, length = segments.operation[good].astype(np.int64), segments.length[good]
    moves = np.array([o.io_class != META for o in segments.operations] or [False])
    bucket = np.where(moves[operation], size_bucket(length), NO_SIZE)
    key = operation * (NO_SIZE + 1) + bucket
    duration = (segments.end_ns - segments.start_ns)[good]
    groups = (NO_SIZE + 1) * max(len(segments.operations), 1)
    order = group_order(key, groups)
    bounds = np.searchsorted(key[order], np.arange(groups + 1))
    rows = []
    for group in np.flatnonzero(np.diff(bounds)).tolist():
        chosen = order[bounds[group] : bounds[group + 1]]
        kind, size = segments.operations[group // (NO_SIZE + 1)], group % (NO_SIZE + 1)
        label = SIZE_LABELS[size] if size != NO_SIZE else ""
        moved = int(length[chosen].sum()) if size != NO_SIZE else 0
        rows.append((kind.name, kind.module, label, len(chosen), moved, *_figures(duration[chosen])))
    return pd.DataFrame(rows, columns=list(LATENCY_COLUMNS))


def percentile_names() -> list[str]:
    """Names the columns of PERCENTILES."""
    return [f"p{share}_ns".replace(".", "_") for share in PERCENTILES]


def _figures(duration: Array) -> tuple[float, ...]:
    ranks = [max(0, int(np.ceil(share / 100 * len(duration))) - 1) for share in PERCENTILES]
    ordered = np.partition(duration, sorted({*ranks, len(duration) - 1}))
    total = int(duration.sum())
    return (total, total / len(duration), *(int(ordered[rank]) for rank in ranks), int(ordered[-1]))


LATENCY_COLUMNS = (
    "operation", "module", "size", "calls", "bytes", "total_ns", "mean_ns", *percentile_names(), "max_ns",
)  # fmt: skip
