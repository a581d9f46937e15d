"""Words which fixes give back the same seconds: one of them will do, and their gains do not add up."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.findings.all_findings import FIX_NAMES
from tfdarshan.findings.finding import Finding, Fix


def same_lines(finding: Finding, other: Finding) -> bool:
    """Return whether two findings have the same lines of the same data set to change."""
    one, two = finding.fix, other.fix
    if one is None or two is None or not one.line:
        return False
    return (one.line, one.instead_of, one.data_set) == (two.line, two.instead_of, two.data_set)


def fix_once(finding: Finding, findings: Sequence[Finding]) -> Fix | None:
    """Return a finding's fix, or a sentence that names the finding before it that has the same lines."""
    first = next((one for one in findings if one is finding or same_lines(one, finding)), finding)
    return finding.fix if first is finding else Fix(f'Make the same change as for "{first.title}".')


def one_of_words(finding: Finding | None, findings: Sequence[Finding]) -> str:
    """Return which fixes give the same; "" if none does."""
    names = one_of_names(finding, findings)
    return f"Choose one, because they save the same time: {names}." if names else ""


def one_of_names(finding: Finding | None, findings: Sequence[Finding]) -> str:
    """Name them: "this fix, larger reads or copies on a local disk"; "" if there are none."""
    same = {one.name for one in findings if finding is not None and same_lines(one, finding)}
    others = [name for name in finding.one_of if name not in same] if finding is not None else []
    if not others:
        return ""
    *first, last = ("this fix", *(FIX_NAMES[name] for name in others))
    return f"{', '.join(first)} or {last}"
