"""What a loop's steps take, timed by the loop itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class StepTimes:
    """Seconds of every step: waiting for input, and computing."""

    wait_s: list[float] = field(default_factory=list)
    compute_s: list[float] = field(default_factory=list)

    @property
    def total_s(self) -> float:
        """All of it."""
        return sum(self.wait_s) + sum(self.compute_s)

    @property
    def wait_share(self) -> float:
        """Share of the time that went into waiting for input."""
        return sum(self.wait_s) / self.total_s if self.wait_s else 0.0


def run_steps(batches: Iterable[Any], compute: Callable[[Any], None], steps: int | None = None) -> StepTimes:
    """Take batches one by one and compute on each; end after `steps`, or with the data."""
    times = StepTimes()
    input_: Iterator[Any] = iter(batches)
    while steps is None or len(times.compute_s) < steps:
        start_s = time.perf_counter()
        try:
            batch = next(input_)
        except StopIteration:
            break
        got_s = time.perf_counter()
        compute(batch)
        times.wait_s.append(got_s - start_s)
        times.compute_s.append(time.perf_counter() - got_s)
    return times
