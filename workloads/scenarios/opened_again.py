"""The same few files, opened anew for every record: once to learn the size, and once to read."""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import read_by, train

READERS = 16
RECORD_BYTES = 20_000
RECORDS = 100


def _files(room: Room) -> list[Path]:
    return room.files("packed", room.number(16, 5), RECORDS * RECORD_BYTES)


def _run(room: Room) -> None:
    paths = _files(room)

    def read(number: int) -> int:
        record, place = divmod(number, len(paths))
        with paths[place].open("rb") as file:
            end = file.seek(0, os.SEEK_END)
        assert (record + 1) * RECORD_BYTES <= end
        descriptor = os.open(paths[place], os.O_RDONLY)
        size_bytes = len(os.pread(descriptor, RECORD_BYTES, record * RECORD_BYTES))
        os.close(descriptor)
        return size_bytes

    train(read_by(READERS, read, RECORDS * len(paths), batch=32), compute_s=0.010)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    descriptors = [os.open(path, os.O_RDONLY) for path in _files(room)]

    def read(number: int) -> int:
        record, place = divmod(number, len(descriptors))
        return len(os.pread(descriptors[place], RECORD_BYTES, record * RECORD_BYTES))

    train(read_by(READERS, read, RECORDS * len(descriptors), batch=32), compute_s=0.010)
    for descriptor in descriptors:
        os.close(descriptor)


SCENARIO = Scenario(
    name="opened again and again",
    finding="reopening",
    cause="two opens of 10 ms before every read of 10 ms, a hundred times of each file",
    fix="descriptors that stay open",
    prepare=_files,
    job=_run,
    fixed=_fixed,
    options=lambda room: room.as_if("bucket"),
)
