"""Words which fixes give back the same seconds: one of them will do, and their gains do not add up."""

from __future__ import annotations

from tfdarshan.findings.all_findings import FIX_NAMES
from tfdarshan.findings.finding import Finding


def one_of_words(finding: Finding | None) -> str:
    """Says which cures give the same; "" if none does."""
    names = one_of_names(finding)
    return f"Choose one: {names}." if names else ""


def one_of_names(finding: Finding | None) -> str:
    """Names them: "this cure, larger reads or copies on a local disk"; "" if there are none."""
    if finding is None or not finding.one_of:
        return ""
    *first, last = ("this cure", *(FIX_NAMES[name] for name in finding.one_of))
    return f"{', '.join(first)} or {last}"
