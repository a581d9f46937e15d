"""Whether storage serves what a job reads and what it writes in turn: what even one reader's calls can show.

A write holds up the reads beside it whatever they wait for: it may fill a pipe that reads leave empty. But a
read that waits (a round trip, a server's work) holds up no write, and one that is served alone holds a write
up for as long as that takes, at most. So if writes go at a share w of their own pace beside reads that go at
a share r of theirs, at least (1 - w) / r of a read is served one at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.contention import usual_times
from tfdarshan.analysis.in_order.stretches import Columns
from tfdarshan.analysis.intervals import Array, covered

# A call is beside others that are under way for half of its time, and alone if they hardly are.
BESIDE, ALONE = 0.5, 0.1
# Fewer calls of a kind tell nothing.
FEWEST_READS, FEWEST_BESIDE, FEWEST_ALONE = 20, 2, 3
# Smaller writes take what a call takes, not what their bytes do.
LEAST_BYTES = 64 << 10


@dataclass(frozen=True)
class TakingTurns:
    """What shows it.

    Attributes:
        reads: The pace of calls on input beside writes, as a share of that without them, by medians.
        writes: That of writes beside such calls, likewise.
        low: What of a call is served one at a time at least, 0 to 1: two standard errors of each median.
        beside: How many calls on input were beside writes.
    """

    reads: float
    writes: float
    low: float
    beside: int

    @property
    def share(self) -> float:
        """What of a call is served one at a time, 0 to 1."""
        return min(1.0, (1 - self.writes) / self.reads)


def taking_turns(stretches: Sequence[Columns], writes: tuple[Array, Array, Array]) -> TakingTurns | None:
    """Compares calls on input that storage served, and writes to it, with and without each other.

    Args:
        stretches: Of each stretch of such calls their starts and ends in ns, what reads moved in bytes, and
            their `call_kinds.CALL_KINDS`.
        writes: Starts and ends of writes in ns, and their bytes.

    Returns:
        None where too few calls are beside each other, or alone.
    """
    if len(stretches) != 1:
        # Of a longer session some stretches are known: calls between these are beside nobody knows what.
        return None
    large = writes[2] >= LEAST_BYTES
    start, end, size = (values[large] for values in writes)
    call_start, call_end, length, kind = stretches[0]
    lasted = (call_end - call_start) / 1e9
    calls = _with_and_without(
        lasted / np.maximum(usual_times(kind, length, lasted), 1e-9),
        covered(start, end).within(call_start, call_end) / np.maximum(call_end - call_start, 1),
    )
    written = _with_and_without(
        (end - start) / size, covered(call_start, call_end).within(start, end) / np.maximum(end - start, 1)
    )
    if min(len(part) for part in calls) < FEWEST_READS:
        return None
    if len(written[0]) < FEWEST_BESIDE or len(written[1]) < FEWEST_ALONE:
        return None
    reads, most_reads = _pace(*calls)
    wrote, most_wrote = _pace(*written)
    if min(wrote, most_wrote) >= 1 or reads >= 1:
        return None
    low = max(0.0, (1 - most_wrote) / max(most_reads, reads))
    return TakingTurns(reads, wrote, min(1.0, low), len(calls[0]))


def _with_and_without(taken: Array, beside: Array) -> tuple[Array, Array]:
    """Gives what calls took beside others, and alone."""
    return taken[beside >= BESIDE], taken[beside <= ALONE]


def _pace(with_others: Array, alone: Array) -> tuple[float, float]:
    """Gives the pace beside others as a share of that alone: by medians, and at most."""
    quick, slow = _median(with_others, -2.0), _median(alone, 2.0)
    return _median(alone) / _median(with_others), slow / quick


def _median(values: Array, errors: float = 0.0) -> float:
    """Gives the median, or what lies so many standard errors of its rank away."""
    return float(np.quantile(values, min(1.0, max(0.0, 0.5 + errors * 0.5 / math.sqrt(len(values))))))
