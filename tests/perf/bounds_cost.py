"""A million files and twenty million operations under the default memory cap: minutes, so only on request."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "1 M files, 20 M operations"
FILES = 1_000_000
OPERATIONS = 20_000_000
MIB = 1 << 20


def bounds_cost(folder: Path) -> tuple[list[Row], list[str]]:
    """Return the rows."""
    progress.show(f"{FILES:,} files, {OPERATIONS:,} operations")
    found = run_child("bounds_probe", folder, folder / "logs", FILES, OPERATIONS, "{}")
    shutil.rmtree(folder / "many")
    done, counted, counts, memory = (found[key] for key in ("done", "counted", "counts", "memory"))
    lost = sum(abs(done[key] - counted[key]) for key in done)
    cap_mib = found["options"]["memory_cap_mb"]
    return [
        single_row(
            GROUP,
            "opens, reads, bytes not counted",
            "",
            [lost],
            wanted=0,
            note=f"{counted['rows']:,} files, {counted['reads']:,} reads, {counted['bytes_read']:,} B",
        ),
        single_row(
            GROUP,
            "segments dropped and said",
            "",
            [counts["events_dropped"]],
            note=f"{counts['segments']:,} segments kept",
        ),
        single_row(
            GROUP,
            "memory while recording",
            "MiB",
            [(memory["recording"] - memory["before"]) / MIB],
            wanted=cap_mib,
            note="growth of the process, spool included",
        ),
        single_row(
            GROUP,
            "memory while stopping",
            "MiB",
            [(memory["stopping"] - memory["before"]) / MIB],
            wanted=cap_mib,
            note="growth of the process, its reader of the spool included",
        ),
        single_row(GROUP, "stop", "s", [found["seconds"]["stop"]]),
    ], []
