"""How long attaching and detaching take with TensorFlow loaded: every first time in a new process."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "attaching with TensorFlow loaded"
LATER = 5
WANTED_FIRST_MS = 15.0


def attach_cost(folder: Path, *, processes: int) -> tuple[list[Row], list[str]]:
    """Return the rows, or a sentence where TensorFlow is not installed."""
    if find_spec("tensorflow") is None:
        return [], ["Attaching with TensorFlow loaded is left out: it is not installed."]
    runs = []
    for number in range(processes):
        progress.show(f"attaching with TensorFlow loaded, process {number + 1} of {processes}")
        runs.append(run_child("attach_probe", folder / "logs", LATER))
    firsts = [run[0] for run in runs]
    laters = [attach for run in runs for attach in run[1:]]
    scanned = "{objects:.0f} objects, {relocations:,.0f} relocations, {slots:.0f} slots".format(**firsts[0])
    return [
        single_row(
            GROUP,
            "first attach",
            "ms",
            [first["attach_ms"] for first in firsts],
            wanted=WANTED_FIRST_MS,
            note=scanned,
        ),
        single_row(GROUP, "later attach", "ms", [attach["attach_ms"] for attach in laters]),
        single_row(GROUP, "detach", "ms", [attach["detach_ms"] for attach in laters]),
        single_row(
            GROUP,
            "first profile().start()",
            "ms",
            [first["start_ms"] for first in firsts],
            note="with spool and session directory",
        ),
        single_row(GROUP, "later profile().start()", "ms", [attach["start_ms"] for attach in laters]),
    ], []
