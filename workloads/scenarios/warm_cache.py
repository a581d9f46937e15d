"""A benchmark that reads what the page cache already has: it says nothing about storage."""

from __future__ import annotations

from pathlib import Path

from .room import Room
from .scenario import Scenario
from .training_loop import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(480, 320), 100_000)


def _run(room: Room) -> None:
    train(whole_files(_files(room), threads=4, batch=8), compute_s=0.040)


SCENARIO = Scenario(
    name="a warm cache",
    finding="page_cache",
    kind="note",
    cause="all of the input is in the page cache from a run before",
    prepare=_files,
    job=_run,
)
