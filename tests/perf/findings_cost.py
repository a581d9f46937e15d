"""How long it takes to find everything in a large session, and with how much memory."""

from __future__ import annotations

from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "finding"
EVENTS_PER_FILE = 10
LARGE_FILES = 1_000_000
WANTED_S = 20.0
WANTED_MIB = 2e9 / (1 << 20)


def findings_cost(folder: Path, *, files: int) -> tuple[list[Row], list[str]]:
    """Return the rows for `files` files, and for a tenth of them."""
    rows = []
    for count in (files // 10, files):
        label = f"{count * EVENTS_PER_FILE / 1e6:g} M events, {count:,} files"
        progress.show(f"finding in {label}")
        run_child("findings_probe", "make", folder / str(count), count)
        found = run_child("findings_probe", "find", folder / str(count))
        large = count == LARGE_FILES
        slowest = ", ".join(
            f"{name} {taken:.1f} s"
            for name, taken in sorted(found["rules_s"].items(), key=lambda s: -s[1])[:3]
        )
        note = f"measuring {found['measure_s']:.1f} s, {slowest}; {found['findings']} found"
        rows += [
            single_row(GROUP, label, "s", [found["wall_s"]], wanted=WANTED_S if large else None, note=note),
            single_row(
                GROUP, f"{label}, memory", "MiB", [found["peak_mib"]], wanted=WANTED_MIB if large else None
            ),
        ]
    return rows, []
