"""What we add to a profile by TensorFlow's own profiler: to its steps, and to its end."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "inside TensorFlow's profiler, 10 steps"
JOBS = {"images": "ImageNet-like", "malware": "malware-like"}
WANTED_RATIO = 1.01
WANTED_TAIL_S = 0.5


def tf_profiler_cost(folder: Path, *, rounds: int, tails: int, reads: int) -> tuple[list[Row], list[str]]:
    """Return the rows, or a sentence where TensorFlow is not installed."""
    if find_spec("tensorflow") is None:
        return [], ["TensorFlow's profiler is left out: TensorFlow is not installed."]
    rows = []
    for job, label in JOBS.items():
        progress.show(f"10 steps of the {label} job, {rounds} rounds of three kinds")
        (folder / job).mkdir()
        rows += _job_rows(label, run_child("tf_profiler_probe", job, folder / job, rounds))
    progress.show(f"the end of a profile with {reads:,} calls, {tails} times")
    (folder / "tail").mkdir()
    return rows + _tail_rows(run_child("tf_tail_probe", folder / "tail", reads, tails), reads), []


def _job_rows(label: str, found: list[dict[str, Any]]) -> list[Row]:
    pairs = (
        ("tfdarshan", "tensorflow", "with us / TensorFlow's profiler alone", WANTED_RATIO),
        ("tensorflow", "none", "TensorFlow's profiler alone / no profiler", None),
        ("tfdarshan", "none", "with us / no profiler", None),
    )
    rows = [
        single_row(
            GROUP,
            f"{label}: {name}",
            "ratio",
            [turn[above]["steps_s"] / turn[below]["steps_s"] for turn in found],
            wanted=wanted,
        )
        for above, below, name, wanted in pairs
    ]
    added = [1e3 * (turn["tfdarshan"]["stop_s"] - turn["tensorflow"]["stop_s"]) for turn in found]
    return [*rows, single_row(GROUP, f"{label}: added to stop()", "ms", added)]


def _tail_rows(found: list[dict[str, Any]], reads: int) -> list[Row]:
    millions = reads / 1e6
    stops, writes = (
        [(turn["tfdarshan"][key] - turn["tensorflow"][key]) / millions for turn in found]
        for key in ("stop_s", "written_s")
    )
    return [
        single_row(
            GROUP,
            "added to stop(), of 1 M calls",
            "s",
            stops,
            wanted=WANTED_TAIL_S,
            note=f"measured with {reads:,} calls",
        ),
        single_row(
            GROUP,
            "until the session is written too, of 1 M calls",
            "s",
            writes,
            note="in the background, while the job goes on",
        ),
    ]
