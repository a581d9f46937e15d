"""Jobs in which nothing is to be fixed: nothing may be found."""

from __future__ import annotations

from pathlib import Path

from .room import Room
from .scenario import Scenario
from .shards import shard_batches, write_shards
from .training_loop import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("small", room.number(640, 320), 50_000)


def _shards(room: Room) -> list[Path]:
    return room.once("shards", lambda: write_shards(_files(room), room.data / "shards", shards=2))


LOCAL = Scenario(
    name="healthy, an SSD",
    finding="",
    cause="files on an SSD, read ahead; steps of 25 ms",
    prepare=_files,
    job=lambda room: train(whole_files(_files(room), threads=4, batch=16, prefetch=4), compute_s=0.025),
    options=lambda room: room.as_if("ssd"),
)
HIDDEN = Scenario(
    name="healthy, hidden latency",
    finding="",
    cause="5 ms of latency for each file, all of it beside the steps: 16 readers, prefetch, steps of 30 ms",
    prepare=_files,
    job=lambda room: train(whole_files(_files(room), threads=16, batch=16, prefetch=4), compute_s=0.030),
    options=lambda room: room.as_if("lustre"),
)
SHARDS = Scenario(
    name="healthy, shards",
    finding="",
    cause="TFRecord shards on a disk, read in order; steps of 30 ms",
    prepare=_shards,
    job=lambda room: train(shard_batches(_shards(room), batch=16), compute_s=0.030),
    options=lambda room: room.as_if("hdd"),
)
