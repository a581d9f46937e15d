"""Findings: what makes a job slow, what each costs in seconds, and what its cure gives.

FINDINGS lists them in the order in which they claim the seconds that are lost: first what need not be done at
all, then what could be done at the same time, then what could be done elsewhere. A finding costs what no one
before it claims, so the costs add up to no more than what is lost. They are shown by their seconds.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.findings import input_bound, prefetch, read_parallelism
from tfdarshan.findings.finding import Finding, Unknown
from tfdarshan.findings.measures import Measures

Rule = Callable[[Measures], Finding | Unknown | None]

FINDINGS: tuple[tuple[str, Rule], ...] = (
    (prefetch.NAME, prefetch.find),
    (read_parallelism.NAME, read_parallelism.find),
    (input_bound.NAME, input_bound.find),
)
NAMES = tuple(name for name, _ in FINDINGS)
