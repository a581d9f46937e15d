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
    """Say which fixes come first, because this one saves the same time or excludes them; "" if none does."""
    names = _others(finding, findings)
    if finding is None or not names:
        return ""
    first = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    if finding.excludes:
        return f"Try first: {first}. Then leave this fix out, as that one also sets the number of readers."
    if len(names) == 1:
        return f"Try first: {first}. After it, this fix adds little."
    return f"Make these fixes first, in this order: {first}. After them, this fix adds little."


def one_of_names(finding: Finding | None, findings: Sequence[Finding]) -> str:
    """Name them: "this fix, larger reads or copies on a local disk"; "" if there are none."""
    others = _others(finding, findings)
    if not others:
        return ""
    *first, last = ("this fix", *others)
    return f"{', '.join(first)} or {last}"


def _others(finding: Finding | None, findings: Sequence[Finding]) -> list[str]:
    """Name the other fixes that save the same time, those that come first."""
    if finding is None:
        return []
    same = {one.name for one in findings if same_lines(one, finding)}
    return [FIX_NAMES[name] for name in finding.one_of if name not in same]
