"""What the stop of a session takes that has many processes; beside it the stop of one process alone."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

WANTED_S = 10.0


def many_processes_cost(folder: Path, *, runs: int, workers: int, group: str) -> list[Row]:
    """Return the row of a session of `workers` processes that were started anew; without: of none."""
    taken: list[tuple[dict[str, float], dict[str, float]]] = []
    for number in range(runs):
        progress.show(f"stopping with {workers} processes, run {number + 1} of {runs}")
        alone, beside = (_stop(folder / "logs", count) for count in (0, workers))
        taken.append((alone, beside))
    row = single_row(
        group,
        f"stop of one session of {workers} processes",
        "s",
        [beside["wall_s"] for _, beside in taken],
        wanted=WANTED_S,
        note=f"{max(beside['cpu_s'] for _, beside in taken):.1f} s of processor time; without: no workers",
    )
    return [dataclasses.replace(row, base=sorted(alone["wall_s"] for alone, _ in taken)[runs // 2])]


def _stop(logdir: Path, workers: int) -> dict[str, float]:
    measured: dict[str, float] = run_child("many_processes_probe", logdir, workers)
    shutil.rmtree(logdir)
    return measured
