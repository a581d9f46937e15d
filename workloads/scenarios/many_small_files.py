"""Thousands of files of a few kB on a disk: each is a seek."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding

from .fix_line import number_in
from .room import Room
from .scenario import Scenario
from .shards import shard_batches, write_shards
from .training_loop import train, whole_files

BUFFER_BYTES = 8 << 20


def _files(room: Room) -> list[Path]:
    return room.files("tiny", room.number(1_600, 480), 4_000)


def _run(room: Room) -> None:
    train(whole_files(_files(room), threads=16, batch=32), compute_s=0.010)


def _fixed(room: Room, finding: Finding) -> None:
    shards = _shards(room, finding)
    batches = shard_batches(shards, batch=32, buffer_bytes=BUFFER_BYTES, readers=len(shards))
    train(batches, compute_s=0.010)


def _shards(room: Room, finding: Finding) -> list[Path]:
    count = number_in(finding, "num_parallel_reads")
    return room.once(f"{count} shards", lambda: write_shards(_files(room), room.data / "shards", count))


def _convert(room: Room, finding: Finding) -> None:
    _shards(room, finding)


SCENARIO = Scenario(
    name="many small files",
    finding="small_files",
    cause="files of 4 kB on a disk: a seek for each",
    fix="the same files in as many TFRecord shards as the finding says",
    prepare=_files,
    job=_run,
    convert=_convert,
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
