"""What advising costs on a session of very many files: time, memory, and how good the choice is."""

from __future__ import annotations

from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

MOST_S = 20.0
MOST_BYTES = 3e9


def advise_cost(folder: Path, *, files: int, runs: int) -> tuple[list[Row], list[str]]:
    """Return the rows; the session is synthetic, with all columns that a recorded one has."""
    group = f"advising on {files:,} files"
    session = folder / "session"
    progress.show(f"writing a session of {files:,} files")
    run_child("advise_probe", "write", session, files)
    found = []
    for number in range(runs):
        progress.show(f"advising on {files:,} files, {number + 1} of {runs}")
        found.append(run_child("advise_probe", "advise", session, "file"))
    chosen = (
        f"{found[0]['chosen']:,} files chosen, {100 * found[0]['bound_share']:.3f} % of the best possible"
    )
    return [
        single_row(group, "time", "s", [run["seconds"] for run in found], wanted=MOST_S, note=chosen),
        single_row(
            group, "processor time", "s", [run["cpu_s"] for run in found], note="start of Python included"
        ),
        single_row(
            group, "memory", "MB", [run["peak_bytes"] / 1e6 for run in found], wanted=MOST_BYTES / 1e6
        ),
    ], []
