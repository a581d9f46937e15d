"""What the first stop of a process costs, most of it imports; beside it Arrow's import alone."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from tests.perf import progress
from tests.perf.child import ROOT
from tests.perf.row import Row, single_row

GROUP = "the first session of a process"
WANTED_CPU_S = 0.1


def first_stop_cost(folder: Path, *, processes: int, at_once: int) -> list[Row]:
    """Return the rows; a stop has Arrow's import alone, measured in turn with it, as what it is without."""
    progress.show("first stops, one after the other")
    kinds: dict[str, tuple[str, ...]] = {"nothing else imported": (), "NumPy imported": ("numpy",)}
    rows = []
    for kind, preloaded in kinds.items():
        pairs = [_pair(folder, 1, *preloaded) for _ in range(processes)]
        starts = [stop["start_cpu_s"] for _, stop in pairs]
        rows.append(single_row(GROUP, f"CPU of start(), {kind}", "s", starts))
        # Arrow imports NumPy, which takes longer than that by itself.
        wanted = WANTED_CPU_S if preloaded else None
        rows.append(_stop_row(f"CPU of stop(), {kind}", "cpu_s", pairs, wanted=wanted))
    progress.show(f"{at_once} first stops at once")
    together = [_pair(folder, at_once)]
    return [*rows, _stop_row(f"stop() of {at_once} at once, until the last has ended", "wall_s", together)]


def _pair(folder: Path, count: int, *preloaded: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return what took the longest of `count` processes that import Arrow, and of as many that stop."""
    imports, stops = (_run_at_once(folder, action, count, *preloaded) for action in ("import", "stop"))
    return _longest(imports), _longest(stops)


def _longest(took: list[dict[str, float]]) -> dict[str, float]:
    return {name: max(each[name] for each in took) for name in took[0]}


def _stop_row(
    name: str,
    measure: str,
    pairs: list[tuple[dict[str, float], dict[str, float]]],
    *,
    wanted: float | None = None,
) -> Row:
    base = statistics.median(alone[measure] for alone, _ in pairs)
    values = [stop[measure] for _, stop in pairs]
    row = single_row(GROUP, name, "s", values, wanted=wanted, note="without: Arrow's import alone")
    return dataclasses.replace(row, base=base)


def _run_at_once(folder: Path, action: str, count: int, *preloaded: str) -> list[dict[str, float]]:
    """Start processes, let all of them act at the same time, and return what each took."""
    started = [_start(folder / "logs" / str(number), action, *preloaded) for number in range(count)]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    took = [json.loads(process.communicate()[0]) for process in started]
    shutil.rmtree(folder / "logs", ignore_errors=True)
    return took


def _start(logdir: Path, action: str, *preloaded: str) -> subprocess.Popen[str]:
    # An installed package has its bytecode.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.perf.first_stop_probe", str(logdir), action, *preloaded],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
