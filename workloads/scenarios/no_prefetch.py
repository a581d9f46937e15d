"""Input is read while nothing computes, and the other way round."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(3_200, 1_280), 20_000)


def _run(room: Room, prefetch: int) -> None:
    train(whole_files(_files(room), threads=16, batch=128, prefetch=prefetch), compute_s=0.060)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, 2)


SCENARIO = Scenario(
    name="no prefetch",
    finding="prefetch",
    cause="16 readers that rest while a step computes for 60 ms",
    fix="prefetch(2)",
    prepare=_files,
    job=lambda room: _run(room, 0),
    fixed=_fixed,
    options=lambda room: room.as_if("lustre"),
)
