"""What of a batch's time is reading, and what decoding."""

from __future__ import annotations

from tfdarshan.findings.measures import Measures

# The processor time that the pipeline's other work has to explain, at least.
EXPLAINED = 0.4


def reading_s(measures: Measures) -> float:
    """Gives what of a batch's time is calls: T_s, and where storage holds calls back all in which it does."""
    if measures.allowance is None:
        return measures.model.storage_s
    return min(measures.pipeline_s(measures.input_calls.beside_s), measures.model.pipeline_s)


def other_s(measures: Measures) -> float:
    """Gives what of a batch's time is none."""
    return max(measures.model.pipeline_s - reading_s(measures), 0.0)


def decodes_longer(measures: Measures) -> bool:
    """Says whether the pipeline decodes longer than it reads, as far as processor time explains it."""
    cpu_s, rest_s = measures.machine.cpu_s, other_s(measures)
    explained = cpu_s is None or cpu_s >= EXPLAINED * rest_s * measures.model.units
    return rest_s > reading_s(measures) and explained
