"""What the first stop of a process costs, most of it imports; beside it Arrow's import alone."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.child import ROOT
from tests.perf.row import Row, quartiles

GROUP = "the first stop of a process"
WANTED_CPU_S = 0.1


def first_stop_cost(folder: Path, *, processes: int, at_once: int) -> list[Row]:
    """Gives the rows; each has Arrow's import alone, measured in turn with it, as what it is without."""
    progress.show("first stops, one after the other")
    kinds: dict[str, tuple[str, ...]] = {"nothing else imported": (), "NumPy imported": ("numpy",)}
    rows = []
    for kind, preloaded in kinds.items():
        pairs = [
            tuple(_run_at_once(folder, action, 1, *preloaded)[0]["cpu_s"] for action in ("import", "stop"))
            for _ in range(processes)
        ]
        # Arrow imports NumPy, which takes longer than that by itself.
        rows.append(_row(f"CPU, {kind}", pairs, wanted=WANTED_CPU_S if preloaded else None))
    progress.show(f"{at_once} first stops at once")
    pair = tuple(
        max(took["wall_s"] for took in _run_at_once(folder, action, at_once)) for action in ("import", "stop")
    )
    return [*rows, _row(f"{at_once} at once, until the last has ended", [pair])]


def _row(name: str, pairs: list[tuple[float, ...]], *, wanted: float | None = None) -> Row:
    values = [stop for _, stop in pairs]
    return Row(
        GROUP,
        name,
        "tfdarshan",
        "s",
        statistics.median(values),
        *quartiles(values),
        len(values),
        base=statistics.median(alone for alone, _ in pairs),
        wanted=wanted,
        note="without: Arrow's import alone",
    )


def _run_at_once(folder: Path, action: str, count: int, *preloaded: str) -> list[dict[str, Any]]:
    """Starts processes, lets all of them act at the same time, and gives what each took."""
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
