"""How long a stop takes, from detaching to the complete session, and what a random trace takes on disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.first_stop_cost import first_stop_cost
from tests.perf.many_processes_cost import many_processes_cost
from tests.perf.row import Row, single_row

GROUP = "stopping"
WANTED_STOP_S = 1.0
WANTED_BYTES = 16.0


def stop_cost(folder: Path, *, processes: int, at_once: int, reads: int) -> tuple[list[Row], list[str]]:
    """Return the rows."""
    runs = []
    for number in range(processes):
        progress.show(f"stopping with {reads:,} events, process {number + 1} of {processes}")
        runs.append(run_child("stop_probe", folder, folder / "logs", reads))
        shutil.rmtree(folder / "logs")
    label = f"stop with {reads / 1e6:g} M events"
    sizes = [sessions[0] for sessions in runs]
    per_event = [size["events_bytes"] / size["segments"] for size in sizes]
    return [
        single_row(
            GROUP,
            f"{label}, Arrow loaded",
            "s",
            [sessions[1]["stop_s"] for sessions in runs],
            wanted=WANTED_STOP_S,
            note="detach to the last file on disk, synced",
        ),
        single_row(
            GROUP,
            f"{label}, first in the process",
            "s",
            [sessions[0]["stop_s"] for sessions in runs],
            note="with the import of NumPy and Arrow",
        ),
        *first_stop_cost(folder, processes=processes, at_once=at_once),
        *many_processes_cost(folder, runs=processes, workers=at_once, group=GROUP),
        single_row(
            "on disk",
            "reads at random places, events table",
            "B/event",
            per_event,
            wanted=WANTED_BYTES,
            note=f"{sizes[0]['segments']:,} segments",
        ),
        single_row(
            "on disk",
            "reads at random places, whole session",
            "B/event",
            [size["session_bytes"] / size["segments"] for size in sizes],
        ),
    ], []
