"""What the trace of tf.io.read_file takes on disk."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "on disk"
FILES = 1000
WANTED_BYTES = 16.0


def disk_cost(folder: Path, *, epochs: int) -> tuple[list[Row], list[str]]:
    """Return the rows, or a sentence where TensorFlow is not installed."""
    if find_spec("tensorflow") is None:
        return [], ["tf.io.read_file is left out: TensorFlow is not installed."]
    progress.show(f"tf.io.read_file over {FILES} files, {epochs} epochs")
    found = run_child("read_file_probe", folder, FILES, epochs)
    job = f"tf.io.read_file, {FILES:,} files x {epochs} epochs"
    return [
        single_row(
            GROUP,
            f"{job}, events table",
            "B/event",
            [found["events_bytes"] / found["segments"]],
            wanted=WANTED_BYTES,
            note=f"{found['segments']:,} segments",
        ),
        single_row(
            GROUP,
            f"{job}, whole session",
            "B/event",
            [found["session_bytes"] / found["segments"]],
            note=f"{found['session_bytes'] / 1e6:.1f} MB",
        ),
    ], []
