"""Records of one large file on a disk, read in random order: a seek for each."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import generated, train

RECORD_BYTES = 64_000


def _records(room: Room) -> int:
    return room.number(400, 120)


def _file(room: Room) -> list[Path]:
    return room.files("large", 1, _records(room) * RECORD_BYTES)


def _rows(path: Path, order: list[int]) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    for record in order:
        yield len(os.pread(descriptor, RECORD_BYTES, record * RECORD_BYTES))
    os.close(descriptor)


def _run(room: Room, *, shuffled: bool) -> None:
    order = list(range(_records(room)))
    if shuffled:
        random.Random(1).shuffle(order)
    train(generated(lambda: _rows(_file(room)[0], order), batch=10), compute_s=0.010)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    _run(room, shuffled=False)


SCENARIO = Scenario(
    name="random records",
    finding="random_access",
    cause="records of 64 kB of one large file on a disk, in random order",
    cure="the file in order, to be shuffled in memory",
    prepare=_file,
    job=lambda room: _run(room, shuffled=True),
    cured=_cured,
    options=lambda room: room.as_if("hdd"),
)
