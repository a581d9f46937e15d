"""Every step looks whether many files are there before it reads one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import generated, train

STATS = 5


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(80, 32), 20_000)


def _rows(paths: list[Path], stats: int) -> Iterator[int]:
    for path in paths:
        for _ in range(stats):
            path.stat()
        descriptor = os.open(path, os.O_RDONLY)
        yield len(os.read(descriptor, 1 << 20))
        os.close(descriptor)


def _run(room: Room, stats: int) -> None:
    train(generated(lambda: _rows(_files(room), stats), batch=4), compute_s=0.005)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    _run(room, 0)


SCENARIO = Scenario(
    name="asked again and again",
    finding="stat_storm",
    cause="five stats of 10 ms for every file that is read",
    cure="a list of the files that is made once",
    prepare=_files,
    job=lambda room: _run(room, STATS),
    cured=_cured,
    options=lambda room: room.as_if("bucket"),
)
