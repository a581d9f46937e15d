"""Input that programs started by the job read: their calls are not seen."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from .room import Room
from .scenario import Scenario
from .training_loop import generated, train


def _files(room: Room) -> list[Path]:
    return room.files("medium", room.number(24, 8), 4_000_000)


def _rows(paths: list[Path]) -> Iterator[int]:
    for path in paths:
        done = subprocess.run(["cksum", str(path)], capture_output=True, check=True)
        yield int(done.stdout.split()[1])


def _run(room: Room) -> None:
    train(generated(lambda: _rows(_files(room)), batch=2), compute_s=0.005)


SCENARIO = Scenario(
    name="unseen reads",
    finding="low_coverage",
    kind="doubt",
    cause="a program that is started for each file reads it",
    prepare=_files,
    job=_run,
)
