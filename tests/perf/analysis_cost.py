"""How long it takes to answer all questions about a large session, and with how much memory."""

from __future__ import annotations

from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "analysing"
EVENTS_PER_FILE = 10
LARGE_FILES = 1_000_000
WANTED_S = 15.0
WANTED_MIB = 2e9 / (1 << 20)
# Ten times as much takes ten times as long, and a little for what no longer fits into the cache.
WANTED_GROWTH = 13.0


def analysis_cost(folder: Path, *, files: int) -> tuple[list[Row], list[str]]:
    """Gives the rows for `files` files, and for a tenth of them: the cost should grow tenfold at most."""
    rows, cpu_s = [], []
    for count in (files // 10, files):
        events = count * EVENTS_PER_FILE
        label = f"{events / 1e6:g} M events, {count:,} files"
        progress.show(f"analysing {label}")
        run_child("analysis_probe", "make", folder / str(count), count)
        found = run_child("analysis_probe", "analyse", folder / str(count))
        large = count == LARGE_FILES
        cpu_s.append(found["cpu_s"])
        steps = found["steps_s"].items()
        slowest = ", ".join(f"{name} {taken:.1f} s" for name, taken in sorted(steps, key=lambda s: -s[1])[:3])
        rows += [
            single_row(
                GROUP, label, "s", [found["wall_s"]], wanted=WANTED_S if large else None, note=slowest
            ),
            single_row(GROUP, f"{label}, CPU time", "s", [found["cpu_s"]]),
            single_row(
                GROUP, f"{label}, memory", "MiB", [found["peak_mib"]], wanted=WANTED_MIB if large else None
            ),
        ]
    growth = cpu_s[1] / cpu_s[0]
    rows.append(
        single_row(
            GROUP, "CPU time for ten times as much", "x", [growth], wanted=WANTED_GROWTH if large else None
        )
    )
    return rows, []
