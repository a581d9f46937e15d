"""A loader that follows files which others write: most of its reads find nothing yet."""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import read_by, train

READERS = 16
RECORD_BYTES = 20_000
RECORDS = 60
ASKED = 3


def _files(room: Room) -> list[Path]:
    return room.files("followed", room.number(16, 6), RECORDS * RECORD_BYTES)


def _run(room: Room, asked: int) -> None:
    descriptors = [os.open(path, os.O_RDONLY) for path in _files(room)]

    def read(number: int) -> int:
        record, place = divmod(number, len(descriptors))
        for _ in range(asked):
            os.pread(descriptors[place], RECORD_BYTES, RECORDS * RECORD_BYTES)
        return len(os.pread(descriptors[place], RECORD_BYTES, record * RECORD_BYTES))

    train(read_by(READERS, read, RECORDS * len(descriptors), batch=16), compute_s=0.005)
    for descriptor in descriptors:
        os.close(descriptor)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, 0)


SCENARIO = Scenario(
    name="reads of nothing",
    finding="eof_probes",
    cause="three reads at the end of a file, of 10 ms each, before each one that finds a record",
    fix="reads of what is known to be there",
    prepare=_files,
    job=lambda room: _run(room, ASKED),
    fixed=_fixed,
    options=lambda room: room.as_if("bucket"),
)
