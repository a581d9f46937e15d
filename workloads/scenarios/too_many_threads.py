"""Large files on a disk, many at a time: the arm goes back and forth between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from tfdarshan.findings.finding import Finding

from .cure_line import number_in
from .room import Room
from .scenario import Scenario
from .shards import write_shards
from .training_loop import finished, train

THREADS = 8
RECORD_BYTES = 32_000


def _shards(room: Room) -> list[Path]:
    records = room.files("records", room.number(2_000, 800), RECORD_BYTES)
    return room.once("shards", lambda: write_shards(records, room.data / "shards", shards=20))


def _interleaved(paths: list[Path], threads: int) -> Any:
    names = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    dataset = names.interleave(
        lambda name: tf.data.TFRecordDataset(name, buffer_size=32 << 10),
        cycle_length=threads,
        num_parallel_calls=threads,
        deterministic=False,
    )
    return finished(dataset.map(tf.strings.length), batch=16, threads=threads)


def _run(room: Room, threads: int) -> None:
    """Trains on some of the shards; what it learned is then tried on the others, which one reader reads."""
    shards = _shards(room)
    train(_interleaved(shards[:THREADS], threads), compute_s=0.005)
    train(_interleaved(shards[THREADS:], 1), compute_s=0.005)


def _cured(room: Room, finding: Finding) -> None:
    _run(room, number_in(finding, "num_parallel_calls"))


SCENARIO = Scenario(
    name="too many threads",
    finding="too_many_threads",
    cause="eight large files read at a time from one disk arm, and others one by one",
    cure="as many at a time as the finding says",
    prepare=_shards,
    job=lambda room: _run(room, THREADS),
    cured=_cured,
    options=lambda room: room.as_if("hdd"),
)
