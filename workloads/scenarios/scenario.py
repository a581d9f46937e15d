"""What a scenario is: a job that is slow for a known cause, and the same job fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfdarshan.findings.finding import Finding

from .room import Room

Job = Callable[[Room], None]
FixedJob = Callable[[Room, Finding], None]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One cause, known because the scenario makes it.

    Attributes:
        name: Of the scenario.
        finding: What must be found first; "" for a healthy job, in which nothing may be found.
        kind: "problem", "doubt" or "note": what kind of finding that is. A note need not come before others,
            but there may be nothing else than notes.
        cause: What makes the job slow, in words.
        fix: What is done about it, in words; "" where nothing can be gained.
        prepare: Makes the data.
        job: Does what is recorded.
        fixed: The same work with the fix applied, as the finding's own line says; None where nothing can be
            gained.
        convert: Makes what the fixed job reads, outside of what is measured.
        options: Options of the session, by the room: which storage is emulated where.
    """

    name: str
    finding: str
    kind: str = "problem"
    cause: str
    fix: str = ""
    prepare: Callable[[Room], object]
    job: Job
    fixed: FixedJob | None = None
    convert: FixedJob | None = None
    options: Callable[[Room], Mapping[str, Any]] = field(default=lambda room: {})
