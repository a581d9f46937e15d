"""What carrying out a plan did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Applied:
    """What was done. `problems` has the name of each file that was not staged, and why.

    `stopped` says why the run ended before all files were tried, "" if it did not.
    """

    copied: int = 0
    copied_bytes: int = 0
    there: int = 0
    links: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
