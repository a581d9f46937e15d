"""What the machine of a job gives it: processors, memory, and how much processor time it took."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CPU_LIMITS = ("/sys/fs/cgroup/cpu.max",)
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Machine:
    """None: unknown, as of an imported log.

    Attributes:
        cpus: Processors that the job may use.
        memory_bytes: Memory that it may use.
        cpu_s: Processor time of the job and of children it waited for, during the session.
    """

    cpus: float | None = None
    memory_bytes: int | None = None
    cpu_s: float | None = None


def cpu_seconds() -> float:
    """Gives the processor time of this process and of the children it waited for, so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def machine_block(cpu_s: float) -> dict[str, Any]:
    """Gives what the metadata says of this machine, and of the processor time that the job took."""
    return {"cpus": _cpus(), "memory_bytes": _memory_bytes(), "cpu_s": cpu_s}


def machine_of(meta: dict[str, Any]) -> Machine:
    """Reads it; sessions of older versions have none."""
    block = meta.get("machine", {})
    return Machine(block.get("cpus"), block.get("memory_bytes"), block.get("cpu_s"))


def _cpus() -> float:
    """Counts the processors; a container's quota may allow a part of them.

    Source: sched_getaffinity(2); cpu.max of cgroups version 2, "quota period" in microseconds.
    """
    allowed = float(len(os.sched_getaffinity(0)))
    for path in CPU_LIMITS:
        words = _read(path).split()
        if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
            allowed = min(allowed, int(words[0]) / int(words[1]))
    return allowed


def _memory_bytes() -> int:
    """Gives the machine's memory, or what the container may have of it."""
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in MEMORY_LIMITS:
        text = _read(path).strip()
        if text.isdecimal():
            limit = min(limit, int(text))
    return limit


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
