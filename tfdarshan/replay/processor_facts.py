"""What a session says of its machine."""

from __future__ import annotations

from typing import Any

from tfdarshan.replay.job_facts import ProcessorFacts
from tfdarshan.sessions.machine_facts import machine_of


def processor_facts(meta: dict[str, Any]) -> ProcessorFacts:
    """Return what the machine gives the job, by what its session says of itself."""
    machine = machine_of(meta)
    return ProcessorFacts(
        cpus=machine.cpus, others=machine.others_cpus, cpu_s=machine.cpu_s,
        session_s=meta.get("duration_ns", 0) / 1e9,
    )  # fmt: skip
