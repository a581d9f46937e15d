"""Training stands still while checkpoints are written to a disk; or hardly at all, which is healthy."""

from __future__ import annotations

from functools import cache
from typing import Any

import tensorflow as tf

from tfdarshan.checkpoint import BurstBuffer
from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train

EVERY = 20


@cache
def _weights(megabytes: int) -> Any:
    return tf.Variable(tf.random.uniform((megabytes, 250_000)))


def _nothing(room: Room) -> None:
    del room


def _steps(room: Room) -> int:
    return room.number(80, 40)


def _run(room: Room) -> None:
    checkpoint = tf.train.Checkpoint(weights=_weights(40))
    manager = tf.train.CheckpointManager(checkpoint, str(room.written / "saved"), max_to_keep=None)

    def save(step: int) -> None:
        if step % EVERY == EVERY // 2:
            manager.save(checkpoint_number=step)

    train(tf.data.Dataset.range(_steps(room)), compute_s=0.040, after=save)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    checkpoint = tf.train.Checkpoint(weights=_weights(40))
    buffer = BurstBuffer(
        checkpoint, fast_dir=str(room.buffered), slow_dir=str(room.written / "saved"), max_to_keep=None
    )
    with buffer:

        def save(step: int) -> None:
            if step % EVERY == EVERY // 2:
                buffer.save(step)

        train(tf.data.Dataset.range(_steps(room)), compute_s=0.040, after=save)


def _run_small(room: Room) -> None:
    checkpoint = tf.train.Checkpoint(weights=_weights(1))
    manager = tf.train.CheckpointManager(checkpoint, str(room.written / "saved"), max_to_keep=None)

    def save(step: int) -> None:
        if step == EVERY // 2:
            manager.save(checkpoint_number=step)

    train(tf.data.Dataset.range(_steps(room)), compute_s=0.080, after=save)


STALL = Scenario(
    name="checkpoints",
    finding="checkpoint_stall",
    cause="40 MB saved every 20 steps, which wait for the disk",
    fix="a burst buffer",
    prepare=_nothing,
    job=_run,
    fixed=_fixed,
    options=lambda room: room.as_if("hdd"),
)
HEALTHY = Scenario(
    name="healthy, checkpoints",
    finding="",
    cause="one checkpoint of 1 MB",
    prepare=_nothing,
    job=_run_small,
    options=lambda room: room.as_if("hdd"),
)
