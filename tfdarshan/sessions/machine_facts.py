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
        cpu_s: Processor time of the job and of its children: from the first step on, else of the session.
        others_cpus: What other programs took of these processors, mean.
        span_s: How long it took that.
        accelerators: Device files of accelerators that the job had open; none of an older version's session.
        ranks: Ranks of the job on this machine, 1 if unknown.
    """

    cpus: float | None = None
    memory_bytes: int | None = None
    cpu_s: float | None = None
    others_cpus: float | None = None
    span_s: float = 0.0
    accelerators: tuple[str, ...] = ()
    ranks: int = 1

    @property
    def rank_bytes(self) -> float | None:
        """What each rank may have of the memory, as each keeps a copy of its own."""
        return None if self.memory_bytes is None else self.memory_bytes / self.ranks


def machine_of(meta: dict[str, Any]) -> Machine:
    """Read it; sessions of older versions have none."""
    block, session_s = meta.get("machine", {}), meta.get("duration_ns", 0) / 1e9
    cpus, memory_bytes, cpu_s, others = (
        block.get(name) for name in ("cpus", "memory_bytes", "cpu_s", "others_cpus")
    )
    # What came before the first step, imports above all, is none of the training's.
    start_s, start_cpu_s = (block.get(name) or 0.0 for name in ("start_s", "start_cpu_s"))
    if cpu_s is not None:
        cpu_s = max(cpu_s - start_cpu_s, 0.0)
    span_s, accelerators = max(session_s - start_s, 0.0), tuple(block.get("accelerators", ()))
    ranks = (meta.get("job") or {}).get("local_size") or 1
    return Machine(cpus, memory_bytes, cpu_s, others, span_s, accelerators, ranks)
