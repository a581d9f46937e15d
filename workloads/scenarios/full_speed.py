"""Large reads, in order and ahead, at all that the disk gives: only another device would be faster."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .shards import shard_batches, write_shards
from .training_loop import train


def _shards(room: Room) -> list[Path]:
    records = room.files("records", room.number(1_800, 720), 128_000)
    return room.once("shards", lambda: write_shards(records, room.data / "shards", shards=3))


def _prepare(room: Room) -> None:
    room.staged(_shards(room))


def _run(paths: list[Path]) -> None:
    train(shard_batches(paths, batch=16), compute_s=0.005)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room.staged(_shards(room)))


SCENARIO = Scenario(
    name="a disk at full speed",
    finding="staging",
    cause="a disk read in order, once, at all of its 163 MB/s",
    fix="the files staged to a faster disk",
    prepare=_prepare,
    job=lambda room: _run(_shards(room)),
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
