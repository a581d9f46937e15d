"""Cures that give back the same seconds: one of them will do, and their gains do not add up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tfdarshan.findings.cure_names import CURE_NAMES
from tfdarshan.findings.finding import Finding

# Of the smaller gain, the share that the other one gives back, too.
SHARED = 0.5


def say_same_seconds(findings: Sequence[Finding], lost_s: float, apart: Sequence[str]) -> list[Finding]:
    """Gives the findings, each with the names of those that give back what it gives.

    Args:
        findings: All.
        lost_s: What the input takes of a unit: the wait, and the loop's own calls.
        apart: Names of findings of other seconds than these.
    """
    cures = [
        one for one in findings if one.cure is not None and one.gain is not None and one.name not in apart
    ]
    return [
        dataclasses.replace(one, one_of=tuple(other.name for other in cures if _same(one, other, lost_s)))
        if one in cures
        else one
        for one in findings
    ]


def one_of_words(finding: Finding | None) -> str:
    """Says which cures give the same; "" if none does."""
    names = one_of_names(finding)
    return f"Choose one: {names}." if names else ""


def one_of_names(finding: Finding | None) -> str:
    """Names them: "this cure, larger reads or copies on a local disk"; "" if there are none."""
    if finding is None or not finding.one_of:
        return ""
    *first, last = ("this cure", *(CURE_NAMES[name] for name in finding.one_of))
    return f"{', '.join(first)} or {last}"


def _same(one: Finding, other: Finding, lost_s: float) -> bool:
    """Says whether both together cannot give what each gives alone."""
    if one is other or one.gain is None or other.gain is None:
        return False
    given_s = one.gain.if_so_s, other.gain.if_so_s
    return sum(given_s) - lost_s >= SHARED * min(given_s) > 0
