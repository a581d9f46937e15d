"""What `tfdarshan list` takes of a thousand sessions: processor time of a process of its own."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.made_up_session import image_job, write_session
from tests.perf import progress
from tests.perf.row import Row, quartiles

GROUP = "a list of sessions"
WANTED_S = 0.3
# The floor: an interpreter that reads the same metadata as JSON, and does nothing with it.
READ_ALL = (
    "import json, pathlib, sys\n"
    "for path in pathlib.Path(sys.argv[1]).rglob('*.meta.json'):\n"
    "    json.loads(path.read_bytes())\n"
)


def list_cost(folder: Path, *, rounds: int, sessions: int = 1_000) -> tuple[list[Row], list[str]]:
    """Return the row: seconds of processor time, and how many times those of reading the metadata."""
    progress.show(f"listing {sessions:,} sessions")
    make_sessions(folder, sessions)
    pairs = [
        (cpu_s(["-c", READ_ALL, str(folder)]), cpu_s(["-m", "tfdarshan", "list", str(folder)]))
        for _ in range(rounds)
    ]
    taken = [listed for _, listed in pairs]
    low, high = quartiles(taken)
    row = Row(
            GROUP, f"{sessions:,} sessions, none looked at", "tfdarshan", "s",
            statistics.median(taken), low, high, rounds, base=statistics.median(floor for floor, _ in pairs),
            ratio=statistics.median(listed / floor for floor, listed in pairs), wanted=WANTED_S,
            note="processor time; beside reading the metadata alone",
    )  # fmt: skip
    return [row], []


def make_sessions(logdir: Path, count: int) -> None:
    """Write a session, and the metadata of others like it."""
    session = write_session(logdir, image_job(8, 1, 2))
    (meta,) = session.path.glob("*.meta.json")
    content = json.loads(meta.read_text())
    for number in range(1, count):
        folder = session.path.with_name(f"{session.path.name}_{number + 1}")
        folder.mkdir()
        content["origin_realtime_ns"] += 3_600 * 10**9
        (folder / meta.name).write_text(json.dumps(content | {"session": folder.name}))


def cpu_s(arguments: Sequence[str]) -> float:
    """Return the processor time of a Python process, its children's included."""
    before = _children_s()
    environment = os.environ | {"XDG_CACHE_HOME": os.devnull}
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
