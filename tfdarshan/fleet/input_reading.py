"""Reads inputs into rows, in several processes where there are many of them.

One that ends the process that reads it, as Darshan's own library may over a damaged log, is a row that says
so; the others are read again, one by one.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice

from tfdarshan.errors import reason
from tfdarshan.fleet.job_columns import DAMAGED, LOG, READ
from tfdarshan.fleet.job_row import Row, begin_row, left_out

CHUNK, FEW = 32, 64
# Chunks that wait or are under way, for each process: what bounds the memory.
AHEAD = 4


@dataclass(frozen=True)
class Task:
    """One input to read; `findings` asks for those of a log, too."""

    path: str
    kind: str
    fingerprint: str
    findings: bool = False


def read_all(tasks: Sequence[Task], processes: int) -> Iterator[list[Row]]:
    """Yields the rows of inputs, some at a time, in any order.

    Args:
        tasks: The inputs.
        processes: How many read at a time; few inputs are read here.
    """
    if processes <= 1 or len(tasks) < FEW:
        for first in range(0, len(tasks), CHUNK):
            yield read_some(tasks[first : first + CHUNK])
        return
    left = yield from _read_in_pool([tasks[n : n + CHUNK] for n in range(0, len(tasks), CHUNK)], processes)
    for chunk in left:
        yield from _read_one_by_one(chunk)


def read_some(tasks: Sequence[Task]) -> list[Row]:
    """Reads inputs; whatever goes wrong with one is its row's."""
    return [_read(task) for task in tasks]


def _read(task: Task) -> Row:
    try:
        if task.kind == LOG:
            from tfdarshan.fleet.log_row import row_of_log

            return _checked(row_of_log(task.path, task.fingerprint, findings=task.findings))
        from tfdarshan.fleet.session_row import row_of_session

        return _checked(row_of_session(task.path, task.fingerprint))
    except Exception as error:  # data can be damaged in ways that nobody thought of
        said = f"reading it failed ({type(error).__name__}: {reason(error)})"
        return _checked(left_out(begin_row(task.path, task.kind, task.fingerprint), DAMAGED, said))


def _checked(row: Row) -> Row:
    """Gives a row that a table can hold: no number that is none, no text that is not UTF-8."""
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            row[name] = None
        elif isinstance(value, str):
            row[name] = value.encode("utf-8", "backslashreplace").decode()
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            row[name] = None
    if row["state"] == READ and (row.get("processes") or 0) <= 0:
        row["processes"] = None
    return row


def _read_in_pool(
    chunks: Sequence[Sequence[Task]], processes: int
) -> Generator[list[Row], None, list[Sequence[Task]]]:
    """Yields rows; returns the chunks that were not read because a process ended."""
    waiting: deque[tuple[Sequence[Task], Future[list[Row]]]] = deque()
    to_come = iter(chunks)
    left: list[Sequence[Task]] = []
    with _pool(min(processes, len(chunks))) as pool:
        try:
            for chunk in islice(to_come, processes * AHEAD):
                waiting.append((chunk, pool.submit(read_some, chunk)))
            while waiting:
                yield waiting[0][1].result()
                waiting.popleft()
                for chunk in islice(to_come, 1):
                    waiting.append((chunk, pool.submit(read_some, chunk)))
        except BrokenProcessPool:
            left = [*(chunk for chunk, _ in waiting), *to_come]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return left


def _read_one_by_one(chunk: Sequence[Task]) -> Iterator[list[Row]]:
    """Reads a chunk in a process of its own; if that ends, each input in one of its own."""
    try:
        with _pool(1) as pool:
            yield pool.submit(read_some, chunk).result()
    except BrokenProcessPool:
        if len(chunk) == 1:
            task = chunk[0]
            said = (
                "the process that read it ended: it is damaged in a way that Darshan's library cannot stand"
            )
            yield [left_out(begin_row(task.path, task.kind, task.fingerprint), DAMAGED, said)]
            return
        half = len(chunk) // 2
        yield from _read_one_by_one(chunk[:half])
        yield from _read_one_by_one(chunk[half:])


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))


def usable_processors() -> int:
    """Gives how many processors this process may run on."""
    return len(os.sched_getaffinity(0))
