"""Marks training steps while a session records: `step()` in custom loops, and Keras' batches.

Only where a step began and ended is kept, and how long it waited for input where that is told; what its I/O
was is looked up when the steps are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

MAX_STEPS = 100_000
STEP_CALLS = "step()"
UNKNOWN = -1


@dataclass
class Mark:
    """One step; times in ns since the epoch, `end_ns` 0 while it lasts."""

    number: int
    source: str
    start_ns: int
    end_ns: int = 0
    input_wait_ns: int = UNKNOWN


class StepLog:
    """The steps of one session, within MAX_STEPS."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.left_out = 0

    def begin(self, number: int | None, source: str) -> Mark | None:
        """Begins a step and ends the one before, if it still lasts."""
        now = time.time_ns()
        self.end(now)
        if len(self.marks) >= MAX_STEPS:
            self.left_out += 1
            return None
        if number is None:
            number = self.marks[-1].number + 1 if self.marks else 0
        self.marks.append(Mark(number, source, now))
        return self.marks[-1]

    def end(self, now: int) -> None:
        """Ends the newest step, if it still lasts."""
        if self.marks and not self.marks[-1].end_ns:
            self.marks[-1].end_ns = now

    def block(self) -> dict[str, Any]:
        """Gives what the metadata says of the steps: empty where there were none."""
        self.end(time.time_ns())
        if not self.marks:
            return {}
        rows = [
            [mark.number, mark.start_ns, mark.end_ns, mark.input_wait_ns, mark.source] for mark in self.marks
        ]
        return {"steps": {"rows": rows, "left_out": self.left_out}}


_log: StepLog | None = None


def begin_log() -> None:
    """Has steps kept from now on."""
    global _log
    _log = StepLog()


def end_log() -> dict[str, Any]:
    """Stops that, and gives what the metadata says of them."""
    global _log
    log, _log = _log, None
    return {} if log is None else log.block()


class step:  # noqa: N801 - reads as a function where it is used
    """Marks a training step of a custom loop; does nothing where no session records.

    Use it as `with tfdarshan.step():` around the step, or call it where each step begins: a step then lasts
    until the next one, or the end of the session.

    Args:
        number: The step's number; one more than that of the step before if left out.
    """

    def __init__(self, number: int | None = None) -> None:
        self._log = _log
        self._mark = None if _log is None else _log.begin(number, STEP_CALLS)

    def __enter__(self) -> step:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._mark is not None and not self._mark.end_ns:
            self._mark.end_ns = time.time_ns()

    @contextmanager
    def input_wait(self) -> Iterator[None]:
        """Counts what is within as time the step waits for its input, such as `next(batches)`."""
        began = time.time_ns()
        try:
            yield
        finally:
            if self._mark is not None:
                self._mark.input_wait_ns = max(self._mark.input_wait_ns, 0) + time.time_ns() - began


def begin_step(number: int, source: str) -> None:
    """Begins a step of a framework that says when."""
    if _log is not None:
        _log.begin(number, source)


def end_step() -> None:
    """Ends it."""
    if _log is not None:
        _log.end(time.time_ns())
