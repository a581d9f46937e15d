"""Files on a parallel file system, read one after the other."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .fix_line import number_in
from .room import Room
from .scenario import Scenario
from .training_loop import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(640, 192), 100_000)


def _run(room: Room, threads: int) -> None:
    train(whole_files(_files(room), threads=threads, batch=16), compute_s=0.005)


def _fixed(room: Room, finding: Finding) -> None:
    _run(room, number_in(finding, "num_parallel_calls"))


SCENARIO = Scenario(
    name="one reader",
    finding="read_parallelism",
    cause="100 kB files with 5 ms of latency each, one read at a time",
    fix="as many calls at a time as the finding says",
    prepare=_files,
    job=lambda room: _run(room, 1),
    fixed=_fixed,
    options=lambda room: room.as_if("lustre"),
)
