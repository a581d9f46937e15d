"""Which cure comes first: what promises most, or what is less work and promises nearly as much."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.findings import slow_node, slow_rank, small_files, staging, straggler
from tfdarshan.findings.finding import Finding

# What is less work comes first if it makes the job this part as many times faster as the cure that promises
# most, and saves this part of the time that it saves.
AS_GOOD, MOST_SAVED = 0.85, 0.6
# To copy or to convert more than this has to make the job so many times faster than some lines do.
LARGE_BYTES, FAR_BETTER = 20e9, 2.0


def best_cure(findings: Sequence[Finding]) -> Finding | None:
    """Gives the finding whose cure comes first, None if none has one with a gain."""
    cures = [finding for finding in findings if finding.gain is not None and finding.cure is not None]
    most = max(cures, key=lambda one: (promise(one), _certain(one)), default=None)
    if most is None:
        return None
    return min((one for one in cures if _nearly_as_good(one, most)), key=_order)


def _nearly_as_good(finding: Finding, most: Finding) -> bool:
    """Says whether a cure promises nearly as much as the one that promises most."""
    promised, at_most = promise(finding, most), promise(most, finding)
    return promised >= AS_GOOD * at_most and 1 - 1 / promised >= MOST_SAVED * (1 - 1 / at_most)


def _order(finding: Finding) -> tuple[float, ...]:
    """Sorts cures by their work, and by what they promise, of which what is certain counts as much."""
    promised, certain = round(promise(finding), 2), round(_certain(finding), 2)
    return work(finding), -promised * certain, -promised


def _certain(finding: Finding) -> float:
    """Gives how many times faster a cure makes the job for certain."""
    return 1.0 if finding.gain is None else finding.gain.speedup_range[0]


def work(finding: Finding) -> int:
    """Gives what a cure takes: 0 some lines, 1 a copy of some files, 2 of all of them, 3 a conversion."""
    return {
        straggler.NAME: 1,
        slow_rank.NAME: 1,
        slow_node.NAME: 1,
        staging.NAME: 2,
        small_files.NAME: 3,
    }.get(finding.name, 0)


def promise(finding: Finding, other: Finding | None = None) -> float:
    """Gives how many times faster a cure makes the job, for comparison with others.

    Args:
        finding: The cure's.
        other: The one that it is compared with; None: any. Of two of which nothing is certain neither is
            doubted more than the other, so that they count as what they are if all that is assumed is so.
    """
    gain = finding.gain
    if gain is None:
        return 1.0
    as_unsure = other is not None and max(_certain(finding), _certain(other)) <= 1
    much_work = finding.copied_bytes > LARGE_BYTES
    return max(1.0, (gain.speedup_if_so if as_unsure else gain.worth) / (FAR_BETTER if much_work else 1.0))


def why_better(named: Finding, cause: Finding) -> str:
    """Says why a cure is named in place of that of what costs most, as a reader sees it in the figures."""
    if cause.cure is None or cause.gain is None or named.gain is None:
        return "promises more"
    if not cause.gain.supported and named.gain.supported:
        return "is more certain"
    if named.gain.speedup > cause.gain.speedup:
        return "promises more"
    return "is less work" if work(named) < work(cause) else "is more certain"
