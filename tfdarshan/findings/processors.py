"""What is left of the processors for work that is moved beside the steps."""

from __future__ import annotations

from tfdarshan.findings.measures import Measures
from tfdarshan.units import percent

# Steps that keep a processor busy for less than this share of what they compute leave theirs to others.
BUSY_STEPS = 0.5


def busy_cpus(measures: Measures, *, others: bool) -> float | None:
    """Gives how many processors the job kept busy, mean, with other programs or without; None if unknown."""
    machine = measures.machine
    if machine.cpus is None or machine.cpu_s is None:
        return None
    own = machine.cpu_s / max(measures.summary.duration_s, 1e-9)
    return min(machine.cpus, own + ((machine.others_cpus or 0.0) if others else 0.0))


def busy_steps(measures: Measures) -> float | None:
    """Gives how much of a processor steps keep busy while they compute; None if unknown."""
    model = measures.model
    if model.cpu_s is None or model.compute_s <= 0:
        return None
    # What waits take of the processors, all but storage's part at most, is no part of what steps compute.
    stored_s = measures.slow_share * model.storage_s
    return max(0.0, model.cpu_s - max(0.0, (model.wait_s or 0.0) - stored_s)) / model.compute_s


def left_by_steps(measures: Measures) -> str:
    """Says that work beside the steps takes no more processors than before, "" if it may.

    A step that waits meanwhile, for a device or for another rank, leaves it the processor that the loop took
    for it. One that computes on a processor keeps that: then another one has to be idle.
    """
    busy = busy_steps(measures)
    return "" if busy is None or busy >= BUSY_STEPS else f"steps keep {percent(busy, 1)} of one busy"
