"""What questions about a session's calls and files cost with other tools: DuckDB, Polars, PyDarshan.

DuckDB and Polars run in the environment whose Python READERS_PYTHON names, and DFTracer's analyzer in that of
ANALYZER_PYTHON; `make bench` makes both. What a tool answers is held against what the others do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.large_session import EVENTS_PER_FILE, FILES, write_large_session
from tests.perf.row import Row, single_row

GROUP = "other tools on the same tables"
PROBE = Path(__file__).with_name("readers_probe.py")
NAMES = {
    "tfdarshan": "tfdarshan", "duckdb": "DuckDB", "polars": "Polars", "darshan": "PyDarshan",
    "analyzer": "DFTracer's analyzer",
}  # fmt: skip
# Tools rank durations in different ways.
CLOSE = 0.01
MILLION = 1_000_000
# What DFTracer's analyzer is asked about: it takes minutes for them.
FEW_EVENTS = FILES * EVENTS_PER_FILE


def readers_cost(folder: Path, *, events: int) -> tuple[list[Row], list[str]]:
    """Return rows for each tool, and a sentence for each that does not work here."""
    label = f"{events / MILLION:g} M events"
    progress.show(f"asking other tools about {label}")
    session = write_large_session(folder, events)
    found, missing = {"tfdarshan": _asked(sys.executable, "tfdarshan", session)}, []
    for tool in ("duckdb", "polars"):
        try:
            found[tool] = _asked(os.environ.get("READERS_PYTHON", sys.executable), tool, session)
        except (OSError, RuntimeError) as error:
            missing.append(f"{NAMES[tool]} is left out: {str(error).splitlines()[-1]}")
    for tool, answer in found.items():
        _check(tool, answer, found["tfdarshan"])
    rows = [row for tool, took in found.items() for row in _rows(label, tool, took)]
    small = write_large_session(folder / "small", FEW_EVENTS)
    by_analyzer, without = _analyzer_rows(small, folder / "scratch")
    of_log, left_out = _log_rows(small, folder / "log.darshan")
    return [*rows, *by_analyzer, *of_log], [*missing, *without, *left_out]


def _asked(python: str, tool: str, session: Path) -> dict[str, Any]:
    """Ask a tool in a new process that has nothing of tfdarshan on its path but the script."""
    ran = subprocess.run(
        [python, str(PROBE), tool, str(session)], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip() or f"it ended with {ran.returncode}")
    answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answer


def _check(tool: str, answer: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    exact = ("calls", "files", "union_ns")
    off = abs(answer["percentile_ns"] / ours["percentile_ns"] - 1)
    if any(answer[name] != ours[name] for name in exact) or off > CLOSE:
        raise RuntimeError(f"{NAMES[tool]} answers {answer}, and tfdarshan {ours}")


def _analyzer_rows(session: Path, scratch: Path) -> tuple[list[Row], list[str]]:
    """Ask DFTracer's analyzer, which reads DFTracer's traces, about one of the same FEW_EVENTS calls."""
    label = f"{FEW_EVENTS / MILLION:g} M events"
    progress.show(f"asking {NAMES['analyzer']} about {label}")
    try:
        took = run_child("analyzer_probe", session, scratch)
    except RuntimeError as error:
        return [], [f"{NAMES['analyzer']} is left out: {str(error).splitlines()[-1]}"]
    if took["calls"] != FEW_EVENTS:
        raise RuntimeError(f"{NAMES['analyzer']} answers {took}, of {FEW_EVENTS} calls")
    ours = _asked(sys.executable, "tfdarshan", session)
    return [*_rows(label, "tfdarshan", ours), *_rows(label, "analyzer", took)], []


def _log_rows(session: Path, log: Path) -> tuple[list[Row], list[str]]:
    from tfdarshan.formats.export.darshan_log import export_darshan
    from tfdarshan.session import open_session

    export_darshan(open_session(session), log)
    ours = run_child("log_readers_probe", "tfdarshan", session)
    try:
        theirs = run_child("log_readers_probe", "darshan", log)
    except RuntimeError as error:
        return [], [f"PyDarshan is left out: {str(error).splitlines()[-1]}"]
    if theirs["bytes_read"] != ours["bytes_read"] or theirs["files"] != ours["files"]:
        raise RuntimeError(f"PyDarshan answers {theirs}, and tfdarshan {ours}")
    label = f"counters of {ours['files']:,} files"
    pairs = (("tfdarshan", ours), ("darshan", theirs))
    return [row for tool, took in pairs for row in _rows(label, tool, took)], []


def _rows(label: str, tool: str, took: Mapping[str, Any]) -> list[Row]:
    subject = NAMES[tool] if tool == "tfdarshan" else f"{NAMES[tool]} {took['version']}"
    note = f"{took['wall_s']:.1f} s by the clock"
    return [
        single_row(GROUP, f"{label}, {subject}, CPU time", "s", [took["cpu_s"]], note=note),
        single_row(GROUP, f"{label}, {subject}, memory", "MiB", [took["peak_mib"]]),
    ]
