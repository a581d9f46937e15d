"""What it costs to lead opens to staged copies: per open, and per read, within a session."""

from __future__ import annotations

from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "opening staged copies"
MOST_NS = 1_000.0


def redirect_cost(folder: Path, *, rounds: int) -> tuple[list[Row], list[str]]:
    """Return the rows: what is added to an open, a close with it, and to a read."""
    progress.show("opens of staged files")
    pairs = run_child("redirect_probe", folder, rounds)
    opens, reads, checks = (
        [led - plain for plain, led in pairs[name]] for name in ("open", "read", "checks")
    )
    return [
        single_row(
            GROUP,
            "added per open",
            "ns",
            opens,
            wanted=MOST_NS,
            note="processor time; both files on one local tier",
        ),
        single_row(
            GROUP,
            "its two checks alone",
            "ns",
            checks,
            note="stat of the original and fstat of the copy, the copy opened by its own name",
        ),
        single_row(GROUP, "added per read", "ns", reads, note="nothing but noise: reads do not look"),
    ], []
