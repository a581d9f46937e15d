"""How long the training loop takes turns with its workers on the processors that there are.

Programs that are ready to run have equal shares of the processors, and one processor each at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.loader_waits import LoaderWaits


@dataclass(frozen=True)
class WorkerTurns:
    """What the loop's computing shares with workers.

    Attributes:
        beside: Batches that are put together while the loop computes, mean.
        had: The share of a processor that the loop then has.
        computes: The share of that time in which the loop wants one: a loop may wait for a GPU.
    """

    beside: float
    had: float
    computes: float

    @property
    def left(self) -> float:
        """What is left of the computing time if the loop never takes turns, a share."""
        return 1 - self.computes * (1 - self.had)


def worker_turns(
    waits: LoaderWaits, begin_ns: Array, end_ns: Array, *, cpus: float, busy: float, cpu_s: float
) -> WorkerTurns | None:
    """Return it; None if the loop computes at no time.

    Args:
        waits: The batches of the workers.
        begin_ns: When the loop begins to compute, step by step, in ns since the session began.
        end_ns: When that ends.
        cpus: How many processors there are.
        busy: What of putting a batch together is computing, a share.
        cpu_s: The processor time of the loop and of the workers together.
    """
    while_computing_s = time_by_makers(waits, begin_ns, end_ns)
    computed_s = float(while_computing_s.sum())
    if computed_s <= 0:
        return None
    all_s = time_by_makers(waits, waits.begun_ns.min(keepdims=True), waits.done_ns.max(keepdims=True))
    makers = np.arange(max(len(all_s), len(while_computing_s)))
    share = np.minimum(cpus / (busy * makers + 1), 1.0)
    had_s = float(while_computing_s @ share[: len(while_computing_s)])
    by_workers_s = float(all_s @ (busy * makers * share)[: len(all_s)])
    return WorkerTurns(
        beside=float(while_computing_s @ makers[: len(while_computing_s)]) / computed_s,
        had=had_s / computed_s,
        computes=min(1.0, max(0.0, cpu_s - by_workers_s) / had_s),
    )


def time_by_makers(waits: LoaderWaits, begin_ns: Array, end_ns: Array) -> Array:
    """Return for how long no batch, one, two and so on were put together at a time; seconds.

    Args:
        waits: The batches.
        begin_ns: When stretches of time begin that are looked at, which do not overlap.
        end_ns: When they end.
    """
    at_ns = np.concatenate([waits.begun_ns, waits.done_ns, begin_ns, end_ns])
    order = np.argsort(at_ns, kind="stable")
    made, looked = np.repeat([1, -1], len(waits)), np.repeat([1, -1], len(begin_ns))
    making = np.cumsum(np.concatenate([made, 0 * looked])[order])[:-1]
    looking = np.cumsum(np.concatenate([0 * made, looked])[order])[:-1] > 0
    lasts_s = np.diff(at_ns[order]) / 1e9
    return np.bincount(making[looking], lasts_s[looking])
