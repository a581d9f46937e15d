"""Reads the numbers out of the line that a finding says to write: the fix is applied to the letter."""

from __future__ import annotations

import re

from tfdarshan.findings.finding import Finding


def number_in(finding: Finding, argument: str) -> int:
    """Return the number of a named argument, such as num_parallel_calls=8, in the fix's line.

    Raises:
        ValueError: The line does not say it.
    """
    line = finding.fix.line if finding.fix else ""
    found = re.search(rf"\b{re.escape(argument)}=(\d+)", line)
    if found is None:
        raise ValueError(f"the fix of {finding.name} says no {argument}: {line!r}")
    return int(found[1])
