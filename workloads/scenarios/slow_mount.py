"""A few of the files are on storage that is much slower than where the others are, and hold them all up."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train, whole_files

EVERY = 15


def _quick(room: Room) -> list[Path]:
    return room.files("quick", EVERY * room.number(60, 16), 100_000)


def _slow(room: Room) -> list[Path]:
    return room.files("slow", room.number(60, 16), 100_000)


def _prepare(room: Room) -> None:
    _quick(room)
    room.staged(_slow(room))


def _run(room: Room, slow: list[Path]) -> None:
    """Read one of the slow files after every EVERY others."""
    quick = _quick(room)
    paths = []
    for place, path in enumerate(slow):
        paths += [*quick[place * EVERY : (place + 1) * EVERY], path]
    train(whole_files(paths, threads=2, batch=16), compute_s=0.004)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, room.staged(_slow(room)))


SCENARIO = Scenario(
    name="one slow mount",
    finding="straggler",
    cause="one file in 16 comes from storage of 10 ms a call, the others from the local disk",
    fix="the slow files copied to where the others are",
    prepare=_prepare,
    job=lambda room: _run(room, _slow(room)),
    fixed=_fixed,
    options=lambda room: room.as_if("bucket", room.data / "slow"),
)
