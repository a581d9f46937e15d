"""What a job's name in its environment adds to the start of an interpreter, while no session records."""

from __future__ import annotations

import os
import shutil
import time
import venv
from collections.abc import Mapping
from pathlib import Path

import tfdarshan  # noqa: F401  (names the job)
from tests.perf import progress
from tests.perf.child import ROOT
from tests.perf.row import Row, added_row
from tests.perf.timing import Timing

GROUP = "starting Python in a job"
VARIABLE = "TFDARSHAN_RENDEZVOUS"
AT_MOST_NS = 200_000
STARTS_OF_A_RUN = 10


def start_cost(folder: Path, *, runs: int) -> tuple[list[Row], list[str]]:
    """Gives the row of an interpreter that does nothing and waits for a session, beside one that does not.

    Both are of an environment that has nothing but tfdarshan_join.pth.
    """
    if VARIABLE not in os.environ:
        return [], ["starting Python: this process could not name its job"]
    python = _environment(folder)
    waiting = dict(os.environ)
    without = {name: value for name, value in waiting.items() if name != VARIABLE}
    _shortest(python, without, waiting)  # reads from disk what they need
    taken = []
    for number in range(runs):
        progress.show(f"starting Python, run {number + 1} of {runs}")
        plain, waited = _shortest(python, without, waiting)
        taken.append((plain, waited))
    return [added_row(GROUP, "python -c ''", taken, subject="waiting for a session", wanted=AT_MOST_NS)], []


def _environment(folder: Path) -> Path:
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python3*/site-packages"))
    for name in ("tfdarshan_join.py", "tfdarshan_join.pth"):
        shutil.copy(ROOT / "csrc" / "python" / name, packages)
    return folder / "bin" / "python"


def _shortest(python: Path, *environments: Mapping[str, str]) -> tuple[Timing, ...]:
    """Starts an interpreter in each, by turns and some times; gives the shortest times of each."""
    starts = [[_start(python, one) for one in environments] for _ in range(STARTS_OF_A_RUN)]
    return tuple(
        Timing(min(one.wall_ns for one in timings), min(one.cpu_ns for one in timings))
        for timings in zip(*starts, strict=True)
    )


def _start(python: Path, environment: Mapping[str, str]) -> Timing:
    """Runs an interpreter from its start to its end."""
    start_ns = time.perf_counter_ns()
    child = os.posix_spawn(python, [str(python), "-c", ""], environment)
    _, status, usage = os.wait4(child, 0)
    elapsed_ns = time.perf_counter_ns() - start_ns
    if status:
        raise RuntimeError(f"{python} -c '' ended with status {status}")
    return Timing(elapsed_ns, (usage.ru_utime + usage.ru_stime) * 1e9)
