"""What a job's name in its environment adds to the start of an interpreter, while no session records."""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path

import tfdarshan  # noqa: F401  (names the job)
from tests.perf import progress
from tests.perf.row import Row, added_row
from tests.perf.timing import Timing

GROUP = "starting Python in a job"
VARIABLE = "TFDARSHAN_RENDEZVOUS"
AT_MOST_NS = 200_000
WARM_UP = 5


def start_cost(_folder: Path, *, pairs: int) -> tuple[list[Row], list[str]]:
    """Gives the row of an interpreter that does nothing and waits for a session, beside one that does not."""
    if VARIABLE not in os.environ or not Path(sysconfig.get_path("purelib"), "tfdarshan_join.pth").exists():
        return [], ["starting Python: tfdarshan_join.pth is not where packages are; a wheel brings it"]
    waiting = dict(os.environ)
    without = {name: value for name, value in waiting.items() if name != VARIABLE}
    for environment in (without, waiting) * WARM_UP:
        _start(environment)
    taken = []
    for number in range(pairs):
        progress.show(f"starting Python, run {number + 1} of {pairs}")
        first, second = (without, waiting) if number % 2 else (waiting, without)
        timings = _start(first), _start(second)
        taken.append(timings if first is without else timings[::-1])
    return [added_row(GROUP, "python -c ''", taken, subject="waiting for a session", wanted=AT_MOST_NS)], []


def _start(environment: Mapping[str, str]) -> Timing:
    """Runs an interpreter from its start to its end."""
    start_ns = time.perf_counter_ns()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], environment)
    _, status, usage = os.wait4(child, 0)
    elapsed_ns = time.perf_counter_ns() - start_ns
    if status:
        raise RuntimeError(f"{sys.executable} -c '' ended with status {status}")
    return Timing(elapsed_ns, (usage.ru_utime + usage.ru_stime) * 1e9)
