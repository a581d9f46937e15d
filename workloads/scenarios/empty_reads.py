"""Storage that is asked whether a file has ended: a third of the calls finds out nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import generated, train

SIZE_BYTES = 20_000


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(160, 64), SIZE_BYTES)


def _read(path: Path, *, to_the_end: bool) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    total = len(os.read(descriptor, 1 << 20))
    while to_the_end and (part := os.read(descriptor, 1 << 20)):
        total += len(part)
    os.close(descriptor)
    return total


def _run(room: Room, *, to_the_end: bool) -> None:
    def rows() -> Iterator[int]:
        return (_read(path, to_the_end=to_the_end) for path in _files(room))

    train(generated(rows, batch=8), compute_s=0.005)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    _run(room, to_the_end=False)


SCENARIO = Scenario(
    name="reads of nothing",
    finding="eof_probes",
    cause="a mount where also the read that finds the end of a file takes 10 ms",
    cure="as many bytes as the file has, in one read",
    prepare=_files,
    job=lambda room: _run(room, to_the_end=True),
    cured=_cured,
    options=lambda room: room.as_if("bucket"),
)
