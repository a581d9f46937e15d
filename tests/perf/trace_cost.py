"""How long it takes to read the calls that a trace of TensorFlow's profiler carries."""

from __future__ import annotations

from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "TensorFlow's traces"
CALLS = 200_000
WANTED_S = 0.8


def trace_cost(folder: Path, *, processes: int) -> tuple[list[Row], list[str]]:
    """Return the rows: all of it, and what protobuf alone takes for the same bytes."""
    runs = []
    for number in range(processes):
        progress.show(f"reading a trace, process {number + 1} of {processes}")
        runs.append(run_child("trace_probe", folder / str(number), CALLS))
    label = f"trace with {CALLS:,} calls"
    read_s, parsed_s = ([run[key] for run in runs] for key in ("read_s", "parsed_s"))
    return [
        single_row(GROUP, f"{label}, as columns", "s", read_s, wanted=WANTED_S),
        single_row(GROUP, f"{label}, protobuf's part", "s", parsed_s, subject="protobuf"),
    ], []
