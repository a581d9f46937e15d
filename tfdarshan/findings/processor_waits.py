"""Calls that wait for a processor that other programs have, not for storage."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfdarshan.analysis.call_kinds import CALL_KINDS, kinds_of
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments
from tfdarshan.findings.finding import Assumption
from tfdarshan.recording.job_machine import Machine

# From such a share of the processors on programs wait for each other.
FULL = 0.85
# Who waits for a processor waits for a part of another program's turn, milliseconds each.
TURN_NS = 1_000_000
# Calls of a kind are served in much less than a turn if so many of them are.
QUICK = 0.9
# From such a share of the calls' time on they wait for processors rather than for storage.
MOSTLY = 0.5
# The input may be as slow without the others: nothing tells.
AS_SLOW = 0.5
AS_SLOW_ALONE = Assumption(
    "the input is as slow without the other programs, which fill the processors",
    "",
    "calls take less on an idle machine",
)


def others_fill(machine: Machine, duration_s: float) -> bool:
    """Says whether other programs filled the processors, which the job alone left free."""
    if machine.cpus is None or machine.cpu_s is None or machine.others_cpus is None:
        return False
    own, full = machine.cpu_s / max(duration_s, 1e-9), FULL * machine.cpus
    return own < full <= own + machine.others_cpus


def waited_share(blocks: Iterable[Segments], after_ns: int) -> float:
    """Gives which share of the calls' time after some moment is in those that waited for a turn.

    Args:
        blocks: Calls on input.
        after_ns: When all of it had been read once. A call before may have waited for storage for as long.

    Returns:
        0 to 1. Of a kind of which more than one call in ten takes so long none counts: it is its usual time.
    """
    sums: Array = np.zeros((4, len(CALL_KINDS)))
    for block in blocks:
        later = block.where(slice(int(np.searchsorted(block.start_ns, after_ns)), len(block)))
        kind, taken_ns = kinds_of(later), later.end_ns - later.start_ns
        long = taken_ns >= TURN_NS
        for place, weights in enumerate((np.ones(len(later)), long, taken_ns, taken_ns * long)):
            sums[place] += np.bincount(kind, weights, minlength=len(CALL_KINDS))
    calls, long_calls, time_ns, long_ns = sums
    quick = long_calls <= (1 - QUICK) * calls
    return float(long_ns[quick].sum() / max(time_ns.sum(), 1.0))
