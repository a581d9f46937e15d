"""What a summary of many calls takes, and one of many ranks, for the first reader and for the next one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "summaries"
MILLION = 1_000_000
LARGE, WANTED_FIRST_S, WANTED_AGAIN_S = 100 * MILLION, 20.0, 1.0
MANY_RANKS, WANTED_RANKS_S = 1_024, 5.0
WANTED_MIB = 1e9 / (1 << 20)


def summary_cost(folder: Path, *, events: Sequence[int], ranks: int) -> tuple[list[Row], list[str]]:
    """Return the rows of sessions of so many events, up to LARGE, and of one of so many ranks."""
    rows: list[Row] = []
    for count in (one for one in events if one <= LARGE):
        label = f"{count / MILLION:,g} M events, 100,000 files"
        progress.show(f"summarizing {label}")
        made = folder / str(count)
        run_child("partials_probe", "make", made, count)
        large = count == LARGE
        rows += _rows(made, label, WANTED_FIRST_S if large else None, WANTED_AGAIN_S if large else None)
    label = f"{ranks:,} ranks of 32 calls, a folder each"
    progress.show(f"summarizing {label}")
    run_child("summary_probe", "ranks", folder / "ranks", ranks)
    rows += _rows(folder / "ranks", label, WANTED_RANKS_S if ranks == MANY_RANKS else None, None)
    return rows, []


def _rows(made: Path, label: str, first_s: float | None, again_s: float | None) -> list[Row]:
    found = run_child("summary_probe", "summary", made)
    shutil.rmtree(made)
    first, again = found["first"], found["again"]
    return [
        single_row(GROUP, f"{label}, CPU time", "s", [first["cpu_s"]], wanted=first_s),
        single_row(GROUP, f"{label}, CPU time, again", "s", [again["cpu_s"]], wanted=again_s),
        single_row(GROUP, f"{label}, memory", "MiB", [first["peak_mib"]], wanted=WANTED_MIB),
    ]
