"""Readers as threads or as forked processes: begun together, timed, and what each was given."""

from __future__ import annotations

import multiprocessing
import resource
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Literal

from tfdarshan.errors import StorageError, reason

from .arm import ArmKind, Job, opened
from .caffe_records import CaffeDatabase, Content, Tally, together
from .handover import Handover, ProcessHandover, ThreadHandover, slot_bytes

Team = Literal["threads", "processes"]
TEAMS: tuple[Team, ...] = ("threads", "processes")
# Of a team that stands still: a job's own time-out, far beyond what a run takes.
GIVEN_UP_AFTER_S = 3600.0


@dataclass(frozen=True)
class Reading:
    """What one run gave.

    Attributes:
        content: What all readers were given.
        opening_s: What opening the database took, in seconds; with the index, finding all records.
        elapsed_s: Opening, and from the first reader's beginning to the last one's end, in seconds.
        switches: How often readers slept: their voluntary context switches.
    """

    content: Content
    opening_s: float
    elapsed_s: float
    switches: int


@dataclass(frozen=True)
class _Part:
    """One worker's; times on the clock that all processes share."""

    content: Content
    begin_s: float
    end_s: float
    switches: int


def read_all(arm: ArmKind, database: CaffeDatabase, readers: int, team: Team) -> Reading:
    """Read a database once, by so many readers.

    Raises:
        StorageError: A reader failed.
    """
    context: Any = multiprocessing.get_context("fork")
    shares = arm.method == "mapped, shared"
    turn: Any = nullcontext()
    if arm.staggered:
        turn = threading.Lock() if team == "threads" else context.Lock()
    handover = _handover(context, database, readers, team) if shares else None
    job = Job(arm, database, readers, turn, handover)
    start_s = time.monotonic()
    with opened(job, shared=team == "threads") as read:
        opening_s = time.monotonic() - start_s
        parts = _by_threads(job, read) if team == "threads" else _by_processes(context, job, read)
    span_s = max(part.end_s for part in parts) - min(part.begin_s for part in parts)
    return Reading(
        together(part.content for part in parts),
        opening_s,
        opening_s + span_s,
        sum(part.switches for part in parts),
    )


def _handover(context: Any, database: CaffeDatabase, readers: int, team: Team) -> Handover:
    if team == "threads":
        return ThreadHandover(readers)
    record_bytes = database.content.value_bytes // max(database.content.records, 1) + 1
    return ProcessHandover(context, readers, slot_bytes(record_bytes, database.kind.batch))


def _part(read: Callable[[int, Tally], None], which: int, begin: Callable[[], object]) -> _Part:
    tally = Tally()
    begin()
    begin_s, before = time.monotonic(), _switches()
    read(which, tally)
    return _Part(tally.content(), begin_s, time.monotonic(), _switches() - before)


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _by_threads(job: Job, read: Callable[[int, Tally], None]) -> list[_Part]:
    barrier = threading.Barrier(job.workers)
    with ThreadPoolExecutor(job.workers) as pool:
        waiting = [pool.submit(_part, read, which, barrier.wait) for which in range(job.workers)]
        return [part.result() for part in waiting]


def _by_processes(context: Any, job: Job, read: Callable[[int, Tally], None]) -> list[_Part]:
    barrier = context.Barrier(job.workers)
    processes, pipes = [], []
    with warnings.catch_warnings():
        # Newer Pythons warn that other threads are there. The children read and end.
        warnings.simplefilter("ignore", DeprecationWarning)
        for which in range(job.workers):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(read, which, barrier, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            pipes.append(ours)
    try:
        return _collected(pipes)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _child(read: Callable[[int, Tally], None], which: int, barrier: Any, pipe: Connection) -> None:
    try:
        pipe.send(_part(read, which, barrier.wait))
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {reason(error) if isinstance(error, OSError) else error}")


def _collected(pipes: list[Connection]) -> list[_Part]:
    """Return all parts; the first worker that fails or is killed ends it, as others may wait for it."""
    parts: list[_Part] = []
    left = list(pipes)
    while left:
        ready = wait(left, GIVEN_UP_AFTER_S)
        if not ready:
            raise StorageError("the reading processes stand still.")
        for pipe in ready:
            assert isinstance(pipe, Connection)
            left.remove(pipe)
            try:
                said = pipe.recv()
            except EOFError:
                said = "it was killed"
            if isinstance(said, str):
                raise StorageError(f"a reading process failed: {said}")
            parts.append(said)
    return parts
