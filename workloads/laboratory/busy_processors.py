"""Other programs beside a drawn job: processes that compute for a share of the time, and rest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# It ends by itself if its parent is gone.
SPIN = """\
import os, sys, time
busy_s, period_s, parent = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
next_s = time.monotonic()
while os.getppid() == parent:
    while time.monotonic() < next_s + busy_s:
        pass
    next_s = max(next_s + period_s, time.monotonic())
    time.sleep(max(0.0, next_s - time.monotonic()))
"""


@dataclass(frozen=True)
class OtherLoad:
    """What other programs take.

    Attributes:
        of_processors: Share of the machine's processors that they run on, one program on each.
        of_time: Share of the time for which each computes.
        period_s: Seconds from one burst to the next.
    """

    of_processors: float
    of_time: float
    period_s: float

    def programs(self, processors: int) -> int:
        """Return how many there are: one at least."""
        return max(1, round(self.of_processors * processors))

    @property
    def words(self) -> str:
        """Word it: "others compute 40% of each 20 ms on 70% of the processors"."""
        return (
            f"others compute {self.of_time:.0%} of each {self.period_s * 1000:g} ms "
            f"on {self.of_processors:.0%} of the processors"
        )


@contextmanager
def other_load(load: OtherLoad | None) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep processors busy until the block ends; None keeps none busy."""
    count = load.programs(len(os.sched_getaffinity(0))) if load else 0
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            assert load is not None
            numbers = [str(load.of_time * load.period_s), str(load.period_s), str(os.getpid())]
            started.append(subprocess.Popen([sys.executable, "-S", "-E", "-c", SPIN, *numbers]))
        yield started
    finally:
        for one in started:
            one.kill()
            one.wait()
