"""What is left of a session once it is stopped: the loop after it against the loop before it."""

from __future__ import annotations

import statistics
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, quartiles

GROUP = "after a session"


def detached_cost(_folder: Path, *, pairs: int) -> tuple[list[Row], list[str]]:
    """Return loop after / loop before, in processes with a session in between and in ones without."""
    runs: dict[str, list[float]] = {"none": [], "session": []}
    slots = 0
    for number in range(pairs):
        for kind, ratios in runs.items():
            progress.show(f"after a session, run {number + 1} of {pairs}")
            found = run_child("detached_probe", kind)
            ratios.append(found["after"] / found["before"])
            slots += found["slots"]
    low, high = quartiles(runs["session"])
    return [
        Row(
            GROUP,
            "pread after / before",
            "tfdarshan",
            "",
            statistics.median(runs["session"]),
            low,
            high,
            pairs,
            base=statistics.median(runs["none"]),
            note=f"slots that still hold a wrapper: {slots}; without: no session in between",
        )
    ], []
