"""Large files, read once in large parts and by many readers: all that is left to gain is faster storage."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import finished, train

READERS = 16
PART_BYTES = 500_000
PARTS = 20


def _files(room: Room) -> list[Path]:
    return room.files("large", room.number(30, 16), room.number(2, 1) * PARTS * PART_BYTES)


def _prepare(room: Room) -> None:
    room.staged(_files(room))


def _run(paths: list[Path]) -> None:
    names = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    parts = names.interleave(
        lambda name: tf.data.FixedLengthRecordDataset(name, PART_BYTES, buffer_size=PART_BYTES),
        cycle_length=READERS,
        num_parallel_calls=READERS,
        deterministic=False,
    )
    train(finished(parts.map(tf.strings.length), batch=16, threads=READERS), compute_s=0.005)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room.staged(_files(room)))


SCENARIO = Scenario(
    name="slow storage",
    finding="staging",
    cause="large files on storage of 10 ms a call, read once, 16 calls at a time",
    fix="the files staged to the local disk",
    prepare=_prepare,
    job=lambda room: _run(_files(room)),
    fixed=_fixed,
    options=lambda room: room.as_if("bucket"),
)
