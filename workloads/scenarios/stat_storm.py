"""A loader that looks again and again whether a file is there before it reads it."""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import read_by, train

READERS = 16
STATS = 8


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(640, 192), 20_000)


def _run(room: Room, stats: int) -> None:
    paths = _files(room)

    def read(number: int) -> int:
        for _ in range(stats):
            paths[number].stat()
        descriptor = os.open(paths[number], os.O_RDONLY)
        size_bytes = len(os.read(descriptor, 1 << 20))
        os.close(descriptor)
        return size_bytes

    train(read_by(READERS, read, len(paths), batch=32), compute_s=0.010)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, 0)


SCENARIO = Scenario(
    name="asked again and again",
    finding="stat_storm",
    cause="eight stats of 10 ms for every file that is read",
    fix="a list of the files that is made once",
    prepare=_files,
    job=lambda room: _run(room, STATS),
    fixed=_fixed,
    options=lambda room: room.as_if("bucket"),
)
