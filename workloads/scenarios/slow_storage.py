"""Large files, read once in large parts and by many readers: all that is left to gain is faster storage."""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import read_by, train

READERS = 16
PART_BYTES = 500_000
PARTS = 16


def _files(room: Room) -> list[Path]:
    return room.files("large", room.number(30, 12), PARTS * PART_BYTES)


def _prepare(room: Room) -> None:
    room.staged(_files(room))


def _run(paths: list[Path]) -> None:
    descriptors = [os.open(path, os.O_RDONLY) for path in paths]

    def read(number: int) -> int:
        place, part = divmod(number, PARTS)
        return len(os.pread(descriptors[place], PART_BYTES, part * PART_BYTES))

    train(read_by(READERS, read, PARTS * len(paths), batch=16), compute_s=0.005)
    for descriptor in descriptors:
        os.close(descriptor)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    _run(room.staged(_files(room)))


SCENARIO = Scenario(
    name="slow storage",
    finding="staging",
    cause="large files on storage of 10 ms a call, read once, 16 calls at a time",
    cure="the files staged to the local disk",
    prepare=_prepare,
    job=lambda room: _run(_files(room)),
    cured=_cured,
    options=lambda room: room.as_if("bucket"),
)
