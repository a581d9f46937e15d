"""Storage that is asked whether a file has ended: a third of the calls finds out nothing."""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import read_by, train, whole_files

READERS = 16


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(1_280, 384), 20_000)


def _run(room: Room) -> None:
    train(whole_files(_files(room), threads=READERS, batch=32), compute_s=0.010)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    paths = _files(room)

    def read(number: int) -> int:
        descriptor = os.open(paths[number], os.O_RDONLY)
        size_bytes = len(os.read(descriptor, os.fstat(descriptor).st_size))
        os.close(descriptor)
        return size_bytes

    train(read_by(READERS, read, len(paths), batch=32), compute_s=0.010)


SCENARIO = Scenario(
    name="reads of nothing",
    finding="eof_probes",
    cause="a mount where also the read that finds the end of a file takes 10 ms",
    cure="as many bytes as the file has, in one read",
    prepare=_files,
    job=_run,
    cured=_cured,
    options=lambda room: room.as_if("bucket"),
)
