"""What the machine of a job gave it: processors, memory, and how much processor time it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Machine:
    """None: unknown, as of an imported log.

    Attributes:
        cpus: Processors that the job may use.
        memory_bytes: Memory that it may use.
        cpu_s: Processor time of the job and of its children, during the session.
        others_cpus: What other programs took of these processors, mean.
    """

    cpus: float | None = None
    memory_bytes: int | None = None
    cpu_s: float | None = None
    others_cpus: float | None = None


def machine_of(meta: dict[str, Any]) -> Machine:
    """Read it; sessions of older versions have none."""
    block = meta.get("machine", {})
    names = ("cpus", "memory_bytes", "cpu_s", "others_cpus")
    return Machine(*(block.get(name) for name in names))
