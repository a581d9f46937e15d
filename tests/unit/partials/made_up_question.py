"""A question that needs no session, for runners: how many tasks there are, and the sum of their numbers."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.partials.process_pool import ProcessPool


@dataclass(frozen=True)
class Number:
    """A task; `folder` counts how often it was tried there."""

    number: int
    folder: str = ""
    kills: int = 0
    damaged: bool = False
    lasts_s: float = 0.0

    @property
    def name(self):
        return f"number {self.number}"


@dataclass(frozen=True)
class SumPartial:
    count: int = 0
    total: int = 0
    version: int = 1


@dataclass(frozen=True)
class Sum:
    version: int = 1

    def empty(self):
        return SumPartial()

    def map(self, task):
        if task.damaged:
            raise SessionDataError(f"{task.name} is damaged")
        if task.folder and kills(task):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(task.lasts_s)
        return SumPartial(1, task.number, self.version)

    def merge(self, one, other):
        return SumPartial(one.count + other.count, one.total + other.total)


def kills(task):
    """Return whether the process that tries a task is to end: the first `kills` times."""
    tries = Path(task.folder) / str(task.number)
    with tries.open("a") as file:
        file.write("x")
    return tries.stat().st_size <= task.kills


def linger(folder):
    """Is a task that does not end by itself: leaves a file with the process's number."""
    (Path(folder) / str(os.getpid())).touch()
    while True:
        time.sleep(100)


def ask_those_who_linger(folder):
    """Ask a pool of two processes."""
    list(ProcessPool(2).each(linger, [folder] * 3))
