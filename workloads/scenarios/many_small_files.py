"""Thousands of files of a few kB on a disk: each is a seek."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.findings.finding import Finding
from workloads.scenarios.room import Room
from workloads.scenarios.scenario import Scenario
from workloads.scenarios.shards import shard_batches, write_shards
from workloads.scenarios.steps import train, whole_files


def _files(room: Room) -> list[Path]:
    return room.files("tiny", room.number(1_600, 480), 4_000)


def _run(room: Room) -> None:
    train(whole_files(_files(room), threads=16, batch=32), compute_s=0.010)


def _cured(room: Room, finding: Finding) -> None:
    del finding
    train(shard_batches(_shards(room), batch=32), compute_s=0.010)


def _shards(room: Room) -> list[Path]:
    return room.once("shards", lambda: write_shards(_files(room), room.data / "shards", shards=1))


def _prepare(room: Room) -> None:
    _files(room)
    _shards(room)


SCENARIO = Scenario(
    name="many small files",
    finding="small_files",
    cause="files of 4 kB on a disk: a seek for each",
    cure="the same files in one TFRecord shard",
    prepare=_prepare,
    job=_run,
    cured=_cured,
    options=lambda room: room.as_if("hdd"),
)
