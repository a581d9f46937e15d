"""A data set that fits into memory, fetched anew in each epoch."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train, whole_files

EPOCHS = 5


def _files(room: Room) -> list[Path]:
    return room.files("medium", room.number(64, 32), 900_000)


def _run(room: Room, *, cache: bool) -> None:
    train(whole_files(_files(room), threads=16, batch=8, epochs=EPOCHS, cache=cache), compute_s=0.010)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, cache=True)


SCENARIO = Scenario(
    name="fits in memory",
    finding="fits_in_memory",
    cause="58 MB on a disk, read in each of 5 epochs",
    fix="dataset.cache()",
    prepare=_files,
    job=lambda room: _run(room, cache=False),
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
