"""Reads inputs into rows, on whatever runs tasks.

One that ends the process that reads it, as Darshan's own library may over a damaged log, or the kernel for
want of memory, is a row that says so; the others are read again, one by one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdarshan.errors import reason
from tfdarshan.fleet.job_columns import DAMAGED, LOG, READ, UNREADABLE
from tfdarshan.fleet.job_row import OF_THE_MACHINE, Row, begin_row, left_out
from tfdarshan.partials.serial import SERIAL, Lost, Runner

# Logs that are read as one task; sessions are larger, and are one each.
CHUNK = 32
ENDED = "the process that read it ended: it is damaged, or takes more memory than there is"


@dataclass(frozen=True)
class Task:
    """One input to read; `findings` asks for those of a log, too."""

    path: str
    kind: str
    fingerprint: str
    findings: bool = False


def read_all(tasks: Sequence[Task], runner: Runner) -> Iterator[list[Row]]:
    """Yield the rows of inputs, some at a time, in any order.

    Args:
        tasks: The inputs.
        runner: What reads them; few inputs are read here.
    """
    logs = [task for task in tasks if task.kind == LOG]
    chunks = [logs[first : first + CHUNK] for first in range(0, len(logs), CHUNK)]
    chunks += [[task] for task in tasks if task.kind != LOG]
    lost: list[Task] = []
    for read in (runner if len(tasks) >= runner.few else SERIAL).each(read_some, chunks):
        if not isinstance(read, Lost):
            yield read.result
        elif len(read.task) > 1:
            lost += read.task
        else:
            yield [_ended(read.task[0])]
    for again in runner.each(read_some, [[task] for task in lost]):
        yield [_ended(again.task[0])] if isinstance(again, Lost) else again.result


def _ended(task: Task) -> Row:
    """Return the row of an input that is asked again; of one that was looked at for findings its figures."""
    if not task.findings:
        return left_out(begin_row(task.path, task.kind, task.fingerprint), UNREADABLE, ENDED)
    row = _read(dataclasses.replace(task, findings=False))
    doubts = [*row.get("doubts", ()), f"not all of the log can be read: {ENDED}"]
    return row | {"verdict": "unknown", "doubts": doubts} if row["state"] == READ else row


def read_some(tasks: Sequence[Task]) -> list[Row]:
    """Read inputs; whatever goes wrong with one is its row's."""
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
        state = UNREADABLE if isinstance(error, OF_THE_MACHINE) else DAMAGED
        return _checked(left_out(begin_row(task.path, task.kind, task.fingerprint), state, said))


def _checked(row: Row) -> Row:
    """Return a row that a table can hold: no number that is none, no text that is not UTF-8."""
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
