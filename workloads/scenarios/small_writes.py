"""Each step writes its results in many small writes, and waits for each."""

from __future__ import annotations

import os
from pathlib import Path

import tensorflow as tf

from tfdarshan.findings.finding import Finding

from .room import Room
from .scenario import Scenario
from .training_loop import train

LINE = b"x" * 99 + b"\n"
LINES = 20


def _nothing(room: Room) -> None:
    del room


def _steps(room: Room) -> int:
    return room.number(40, 12)


def _run(room: Room) -> None:
    descriptor = os.open(_log(room), os.O_WRONLY | os.O_CREAT)

    def log(step: int) -> None:
        del step
        for _ in range(LINES):
            os.write(descriptor, LINE)

    train(tf.data.Dataset.range(_steps(room)), compute_s=0.020, after=log)
    os.close(descriptor)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    with _log(room).open("wb", buffering=1 << 20) as file:

        def log(step: int) -> None:
            del step
            for _ in range(LINES):
                file.write(LINE)

        train(tf.data.Dataset.range(_steps(room)), compute_s=0.020, after=log)


def _log(room: Room) -> Path:
    return room.written / "log"


SCENARIO = Scenario(
    name="small writes",
    finding="small_writes",
    cause="20 writes of 100 bytes a step, 3 ms each",
    fix="a buffer of 1 MiB",
    prepare=_nothing,
    job=_run,
    fixed=_fixed,
    options=lambda room: room.as_if("lustre"),
)
