"""The same few files, opened anew for every record that is read from them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import generated, train

RECORD_BYTES = 50_000
RECORDS = 100


def _files(room: Room) -> list[Path]:
    return room.files("packed", room.number(6, 3), RECORDS * RECORD_BYTES)


def _opened_each_time(paths: list[Path]) -> Iterator[int]:
    for record in range(RECORDS):
        for path in paths:
            descriptor = os.open(path, os.O_RDONLY)
            yield len(os.pread(descriptor, RECORD_BYTES, record * RECORD_BYTES))
            os.close(descriptor)


def _opened_once(paths: list[Path]) -> Iterator[int]:
    descriptors = [os.open(path, os.O_RDONLY) for path in paths]
    for record in range(RECORDS):
        for descriptor in descriptors:
            yield len(os.pread(descriptor, RECORD_BYTES, record * RECORD_BYTES))
    for descriptor in descriptors:
        os.close(descriptor)


def _run(room: Room) -> None:
    train(generated(lambda: _opened_each_time(_files(room)), batch=10), compute_s=0.005)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    train(generated(lambda: _opened_once(_files(room)), batch=10), compute_s=0.005)


SCENARIO = Scenario(
    name="opened again and again",
    finding="reopening",
    cause="an open of 10 ms before every read of 10 ms, of the same six files",
    cure="descriptors that stay open",
    prepare=_files,
    job=_run,
    cured=_cured,
    options=lambda room: room.as_if("bucket"),
)
