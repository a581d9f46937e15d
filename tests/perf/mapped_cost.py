"""What it costs to watch page faults on mapped files."""

from __future__ import annotations

import dataclasses
import statistics
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, added_row
from tests.perf.timing import Timing

GROUP = "Watching page faults"
SHARE = 0.01


def mapped_cost(folder: Path, *, pairs: int) -> tuple[list[Row], list[str]]:
    """Gives the row of an epoch over LMDB from the page cache, where nothing but page faults waits."""
    progress.show(f"an epoch over LMDB, {pairs} pairs")
    told = run_child("mapped_probe", folder / "mapped", pairs)
    timings = [(Timing(*plain), Timing(*watched)) for plain, watched in told["pairs"]]
    epoch_ns = statistics.median(plain.wall_ns for plain, _ in timings)
    seen = "" if told["share"] is None else f"{told['share']:.0%} of {told['faults']:,.0f} faults seen"
    row = added_row(
        GROUP, "an epoch of py-lmdb and tf.data", timings, subject="mapped=True", wanted=SHARE * epoch_ns
    )
    return [dataclasses.replace(row, note=seen)], []
