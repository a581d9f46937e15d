"""Large files on a disk, many at a time: the arm goes back and forth between them."""

from __future__ import annotations

from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfdarshan.findings.finding import Finding

from .fix_line import number_in
from .room import Room
from .scenario import Scenario
from .shards import write_shards
from .training_loop import finished, train

THREADS = 8
# Reads of a record each are not small: that there are so many at a time is all that slows them.
RECORD_BYTES, BUFFER_BYTES = 128_000, 128 << 10
# How often shards are learned from, and another tried.
ROUNDS = 3
# A step computes for half as long as many readers take for its batch: fewer hide nearly all of what a
# copy would, so that the lines come first.
STEP_S = 0.03


def _shards(room: Room, name: str, shards: int, records: int) -> list[Path]:
    files = room.files(name, shards * records, RECORD_BYTES)
    return room.once(
        f"shards of {name}", lambda: write_shards(files, room.data / f"{name}-shards", shards=shards)
    )


def _learned(room: Room) -> list[Path]:
    return _shards(room, "learned", ROUNDS * THREADS, room.number(30, 20))


def _tried(room: Room) -> list[Path]:
    return _shards(room, "tried", ROUNDS, room.number(240, 160))


def _prepare(room: Room) -> None:
    _learned(room)
    _tried(room)


def _interleaved(paths: list[Path], threads: int) -> Any:
    names = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    return names.interleave(
        lambda name: tf.data.TFRecordDataset(name, buffer_size=BUFFER_BYTES),
        cycle_length=threads,
        num_parallel_calls=threads,
        deterministic=False,
    )


def _run(room: Room, threads: int) -> None:
    """Train on some of the shards; what it learned is tried on another, read by one reader; and so on."""
    learned, tried = iter(_learned(room)), iter(_tried(room))
    rounds = [
        _interleaved(list(islice(learned, THREADS)), threads).concatenate(_interleaved([next(tried)], 1))
        for _ in range(ROUNDS)
    ]
    # One data set, as to begin another takes a part of a step.
    dataset = reduce(lambda before, after: before.concatenate(after), rounds)
    train(finished(dataset.map(tf.strings.length), batch=16, threads=threads), compute_s=STEP_S)


def _fixed(room: Room, finding: Finding) -> None:
    _run(room, number_in(finding, "num_parallel_calls"))


SCENARIO = Scenario(
    name="too many threads",
    finding="too_many_threads",
    cause="eight large files read at a time from one disk arm, and others one by one, in turn",
    fix="as many at a time as the finding says",
    prepare=_prepare,
    job=lambda room: _run(room, THREADS),
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
