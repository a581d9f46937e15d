"""What calls of a kind take as a rule, as against what some of them take besides.

A call that storage does not hold up is the work of the kernel, or of a server beside the job, and takes about
as long each time. What some take beyond that they wait: for a processor, for a lock, or for a server that is
busy with other calls. Whoever makes fewer such calls may wait for that elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfdarshan.analysis.in_order.thinned import Thinned
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.processor_waits import QUICK, TURN_NS

# A call that takes so many times as long as usual does not do what the others do alone; so many are few.
FAR_LONGER, FEW = 10, 0.1


def usual_share(measures: Measures, kinds: Sequence[str]) -> float:
    """Gives which share of the time in calls of some kinds they would take if each took as long as usual."""
    whole_s = measures.group(*kinds).thread_s
    if whole_s <= 0:
        return 1.0
    return sum(_usual_share(measures, kind) * measures.group(kind).thread_s for kind in kinds) / whole_s


def share_without_few(taken_ns: Array) -> float:
    """Gives which share of some calls' time they would take if the few far longer ones took as long as usual.

    Storage holds all of them up, and a few for something else, which may not come again.

    Args:
        taken_ns: How long each took; more than one in ten are not few.
    """
    usual_ns = float(np.median(taken_ns)) if len(taken_ns) else 0.0
    far = taken_ns > FAR_LONGER * usual_ns
    if not far.any() or far.mean() > FEW:
        return 1.0
    return 1 - float((taken_ns[far] - usual_ns).sum() / taken_ns.sum())


def _usual_share(measures: Measures, kind: str) -> float:
    return measures.kept.get(f"usual {kind}", lambda: share_of(measures.calls_again(kind)))


def share_of(blocks: Iterable[Segments]) -> float:
    """Gives it for calls of one kind; 1 where more than one call in ten takes as long as storage waits."""
    sample, total_ns, long = Thinned(1), 0, 0
    for block in blocks:
        taken_ns = block.end_ns - block.start_ns
        sample.add(taken_ns)
        total_ns += int(taken_ns.sum())
        long += int(np.count_nonzero(taken_ns >= TURN_NS))
    if not sample.count or not total_ns or long > (1 - QUICK) * sample.count:
        return 1.0
    return min(1.0, float(np.median(sample.columns()[0])) * sample.count / total_ns)
