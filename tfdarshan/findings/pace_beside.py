"""How much the pipeline works while the training loop stands still, against what it does in the waits."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array, covered
from tfdarshan.findings.measures import Measures, digest_of


def pace_beside(measures: Measures, start_ns: Array, end_ns: Array) -> float:
    """Gives how much it works in some stretches, as a share of what it does in the waits.

    Args:
        measures: The session.
        start_ns: Where they start.
        end_ns: Where they end.
    """
    windows = measures.windows
    if windows is None or windows.wait_end_ns is None:
        return 0.0
    waits = covered(windows.start_ns, windows.wait_end_ns)
    in_waits_ns = measures.pipeline.in_waits_ns - measures.pipeline.loop_in_waits_ns
    name = f"worked, {digest_of(start_ns, end_ns)}"
    found_ns = measures.kept.get(name, lambda: worked_ns(measures, start_ns, end_ns))
    beside, full = (
        calls_ns / whole_ns if whole_ns > 0 else 0.0
        for calls_ns, whole_ns in (
            (found_ns, covered(start_ns, end_ns).total_ns()),
            (in_waits_ns, waits.total_ns()),
        )
    )
    # Steps that hardly wait do not show a full pace: that is all readers in calls.
    return min(1.0, beside / max(full, 1e-9)) if full > 0 else min(1.0, beside / measures.model.readers)


def worked_ns(measures: Measures, start_ns: Array, end_ns: Array) -> int:
    """Gives the time within some stretches of the calls on input that are not the loop's, added up."""
    stretch, worked_ns = covered(start_ns, end_ns), 0
    for block in measures.input_within(start_ns, end_ns):
        loop = [place for place, found in enumerate(block.threads) if measures.is_loop(found)][:1]
        others = ~np.isin(block.thread, loop)
        worked_ns += int(stretch.within(block.start_ns[others], block.end_ns[others]).sum())
    return worked_ns
