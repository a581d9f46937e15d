"""Input that does not come from files: whatever holds the steps up, no change of the file I/O helps."""

from __future__ import annotations

import time
from collections.abc import Iterator

from .room import Room
from .scenario import Scenario
from .training_loop import generated, train


def _nothing(room: Room) -> None:
    del room


def _rows(count: int) -> Iterator[int]:
    for number in range(count):
        time.sleep(0.004)
        yield number


def _run(room: Room) -> None:
    train(generated(lambda: _rows(room.number(800, 240)), batch=8), compute_s=0.005)


SCENARIO = Scenario(
    name="input from elsewhere",
    finding="input_bound",
    kind="note",
    cause="a generator that waits 4 ms for each sample, and reads no file",
    prepare=_nothing,
    job=_run,
)
