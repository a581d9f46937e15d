"""A benchmark that reads what the page cache already has: it says nothing about storage."""

from __future__ import annotations

from pathlib import Path

from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.steps import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(640, 320), 100_000)


def _run(room: Room) -> None:
    # Read once before, as a run before this one does.
    for path in _files(room):
        path.read_bytes()
    train(whole_files(_files(room), threads=2, batch=32, epochs=4), compute_s=0.002)


SCENARIO = Scenario(
    name="a warm cache",
    finding="page_cache",
    kind="doubt",
    cause="all but the first of five passes come from the page cache",
    prepare=_files,
    job=_run,
)
