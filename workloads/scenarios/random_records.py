"""Records of one large file on a disk, read in random order: a seek for each."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import read_by, train

READERS = 16
RECORD_BYTES = 64_000


def _records(room: Room) -> int:
    return room.number(960, 320)


def _file(room: Room) -> list[Path]:
    return room.files("large", 1, _records(room) * RECORD_BYTES)


def _run(room: Room) -> None:
    order = list(range(_records(room)))
    random.Random(1).shuffle(order)
    descriptor = os.open(_file(room)[0], os.O_RDONLY)

    def read(number: int) -> int:
        return len(os.pread(descriptor, RECORD_BYTES, order[number] * RECORD_BYTES))

    train(read_by(READERS, read, len(order), batch=16), compute_s=0.010)
    os.close(descriptor)


def _fixed(room: Room, finding: Finding) -> None:
    """Read in order, by one reader: several would leave it."""
    del finding
    descriptor = os.open(_file(room)[0], os.O_RDONLY)

    def read(number: int) -> int:
        return len(os.pread(descriptor, RECORD_BYTES, number * RECORD_BYTES))

    train(read_by(1, read, _records(room), batch=16), compute_s=0.010)
    os.close(descriptor)


SCENARIO = Scenario(
    name="random records",
    finding="random_access",
    cause="records of 64 kB of one large file on a disk, in random order",
    fix="the file in order, to be shuffled in memory",
    prepare=_file,
    job=_run,
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
