"""Files on a disk, a few of which are read again and again: those go to a faster tier."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import train, whole_files

TIMES = 6


def _hot(room: Room) -> list[Path]:
    return room.files("hot", room.number(24, 8), 900_000)


def _cold(room: Room) -> list[Path]:
    return room.files("cold", room.number(96, 32), 900_000)


def _prepare(room: Room) -> None:
    _cold(room)
    room.staged(_hot(room))


def _order(hot: list[Path], cold: list[Path]) -> list[Path]:
    """Mixes them: each hot file TIMES times, each cold one once."""
    often = hot * TIMES
    every = len(often) / len(cold)
    mixed = list(often)
    for place, path in enumerate(cold):
        mixed.insert(round(place * (every + 1)), path)
    return mixed


def _run(room: Room, hot: list[Path]) -> None:
    train(whole_files(_order(hot, _cold(room)), threads=16, batch=8), compute_s=0.010)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    _run(room, room.staged(_hot(room)))


SCENARIO = Scenario(
    name="hot files on a disk",
    finding="staging",
    cause="a fifth of the files on a disk is read six times, the others once",
    cure="the hot files staged to the fast tier",
    prepare=_prepare,
    job=lambda room: _run(room, _hot(room)),
    cured=_cured,
    options=lambda room: room.as_if("hdd"),
)
