"""More calls than the trace has room for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .room import Room
from .scenario import Scenario
from .training_loop import generated, train


def _file(room: Room) -> list[Path]:
    return room.files("large", 1, 1_000_000)


def _rows(path: Path, rows: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    for row in range(rows):
        yield len([os.pread(descriptor, 100, (row * 37 + part) % 999_900) for part in range(2_000)])
    os.close(descriptor)


def _run(room: Room) -> None:
    train(generated(lambda: _rows(_file(room)[0], room.number(200, 100)), batch=5), compute_s=0.001)


SCENARIO = Scenario(
    name="a trace cut short",
    finding="truncated_trace",
    kind="doubt",
    cause="200,000 calls and more, with room for the segments of a quarter of them",
    prepare=_file,
    job=_run,
    options=lambda room: {"trace_memory_mb": 1},
)
