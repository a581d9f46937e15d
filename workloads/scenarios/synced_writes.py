"""Results are made durable one by one, and each step waits for it."""

from __future__ import annotations

import os
from collections.abc import Callable

import tensorflow as tf

from tfdarshan.checkpoint import sync_behind
from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train

RESULT = bytes(200_000)


def _nothing(room: Room) -> None:
    del room


def _run(room: Room, sync: Callable[[int], None]) -> None:
    descriptor = os.open(room.written / "results", os.O_WRONLY | os.O_CREAT)

    def keep(step: int) -> None:
        del step
        os.write(descriptor, RESULT)
        sync(descriptor)

    train(tf.data.Dataset.range(room.number(80, 24)), compute_s=0.020, after=keep)
    os.fsync(descriptor)
    os.close(descriptor)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, sync_behind)


SCENARIO = Scenario(
    name="synced one by one",
    finding="fsync",
    cause="a sync of 10 ms in each step",
    fix="a sync a second, in a thread",
    prepare=_nothing,
    job=lambda room: _run(room, os.fsync),
    fixed=_fixed,
    options=lambda room: room.as_if("bucket"),
)
