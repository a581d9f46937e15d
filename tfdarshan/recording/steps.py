"""Marks training steps while a session records: `step()` in custom loops, and Keras' batches.

Only where a step began and ended is kept, what the kernel charged the process with meanwhile, and how long
it waited for input where that is told; what its I/O was is looked up when the steps are read.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tfdarshan.native import _bridge
from tfdarshan.recording.chosen_steps import ChosenSteps
from tfdarshan.sessions.schema import UNKNOWN

MAX_STEPS = 100_000
STEP_CALLS = "step()"
# Asking the kernel takes 7 us: steps() does so once in this time at most, so that it costs 1 % at most.
ASKED_NS = 1_000_000

# What read calls returned (rchar) and what storage was asked for (read_bytes), of /proc/self/io.
Reads = tuple[int, int]
# A time in ns since the epoch, and what the kernel had charged by then.
Moment = tuple[int, "Reads | None"]


@dataclass(slots=True)
class Mark:
    """One step; times in ns since the epoch, `end_ns` 0 while it lasts. `before` is as the step began."""

    number: int
    source: str
    start_ns: int
    before: Reads | None = None
    end_ns: int = 0
    input_wait_ns: int = UNKNOWN
    rchar: int = UNKNOWN
    read_bytes: int = UNKNOWN
    epoch: int = UNKNOWN

    def end(self, now: int, reads: Reads | None) -> None:
        """End the step, if it still lasts."""
        if self.end_ns:
            return
        self.end_ns = now
        if self.before is not None and reads is not None:
            self.rchar, self.read_bytes = (after - b for after, b in zip(reads, self.before, strict=True))


class StepLog:
    """The steps of one session, within MAX_STEPS.

    Args:
        kernel_reads: Gives what the kernel has charged so far.
        first: The number of the first step that has none.
        passes: Passes over the input that have begun before.
    """

    def __init__(
        self,
        kernel_reads: Callable[[], Reads | None] = _bridge.kernel_reads,
        *,
        first: int = 0,
        passes: int = 0,
    ) -> None:
        self.marks: list[Mark] = []
        self.left_out = 0
        self._kernel_reads = kernel_reads
        self._first, self._passes = first, passes
        self._asked_ns = 0

    def begin(self, number: int | None, source: str, epoch: int = UNKNOWN) -> Mark | None:
        """Begin a step and end the one before, if it still lasts."""
        reads = None if self._full() and self._newest_ended() else self._kernel_reads()
        begun = time.time_ns(), reads
        self._end(*begun)
        return self._append(number, source, begun, epoch)

    def request(self) -> Moment:
        """End the newest step, as its loop requests the next batch, and return when that was.

        The kernel is asked what it has charged, but for steps of less than ASKED_NS.
        """
        now, reads = time.time_ns(), None
        if now - self._asked_ns >= ASKED_NS:
            reads = self._kernel_reads()
            self._asked_ns = now = time.time_ns()
        self._end(now, reads)
        return now, reads

    def begin_requested(self, requested: Moment, source: str, epoch: int) -> Mark | None:
        """Begin a step when its batch was requested; it has come now, and was waited for until now."""
        now = time.time_ns()
        mark = self._append(None, source, requested, epoch)
        if mark is not None:
            mark.input_wait_ns = now - mark.start_ns
        return mark

    def next_pass(self) -> int:
        """Return the number of a pass over the input that begins, from 1 on."""
        self._passes += 1
        return self._passes

    def _append(self, number: int | None, source: str, begun: Moment, epoch: int) -> Mark | None:
        if self._full():
            self.left_out += 1
            return None
        if number is None:
            number = self.marks[-1].number + 1 if self.marks else self._first
        self.marks.append(Mark(number, source, *begun, epoch=epoch))
        return self.marks[-1]

    def end(self) -> None:
        """End the newest step, if it still lasts."""
        if not self._newest_ended():
            self._end(time.time_ns(), self._kernel_reads())

    def _full(self) -> bool:
        return len(self.marks) >= MAX_STEPS

    def _newest_ended(self) -> bool:
        return not self.marks or bool(self.marks[-1].end_ns)

    def _end(self, now: int, reads: Reads | None) -> None:
        if self.marks:
            self.marks[-1].end(now, reads)

    def block(self) -> dict[str, Any]:
        """Return what the metadata says of the steps: empty where there were none."""
        self.end()
        if not self.marks:
            return {}
        rows = [
            [m.number, m.start_ns, m.end_ns, m.input_wait_ns, m.source, m.rchar, m.read_bytes, m.epoch]
            for m in self.marks
        ]
        return {"steps": {"rows": rows, "left_out": self.left_out}}


_log: StepLog | None = None
# Who waits for some steps, and records these alone.
_chosen: ChosenSteps | None = None


def current_log() -> StepLog | None:
    """Return the steps of the session that records, None if none does."""
    return _log


def begin_log() -> None:
    """Have steps kept from now on."""
    global _log
    if _chosen is None or not _chosen.recording:
        _log = StepLog()
    else:
        # Within the pass that has begun last.
        _log = StepLog(first=_chosen.newest + 1, passes=max(_chosen.passes - 1, 0))


def end_log() -> dict[str, Any]:
    """Stop that, and return what the metadata says of them."""
    global _log
    log, _log = _log, None
    return {} if log is None else log.block()


def log_so_far() -> dict[str, Any]:
    """Return what the metadata would say of them now."""
    return {} if _log is None else copy.deepcopy(_log).block()


def watch_steps(chosen: ChosenSteps | None) -> None:
    """Have someone told of all steps from now on; None: nobody."""
    global _chosen
    _chosen = chosen


def watched_steps() -> ChosenSteps | None:
    """Return who is told of all steps."""
    return _chosen


def expect_step(number: int | None = None) -> None:
    """Say that a step is about to begin, whose recording may begin, or end, here."""
    if _chosen is not None:
        _chosen.expect(number)


def note_step(number: int | None = None) -> None:
    """Say that it has begun."""
    if _chosen is not None:
        _chosen.begun(number)


def note_pass() -> None:
    """Say that a pass over the input begins."""
    if _chosen is not None:
        _chosen.passes += 1


def note_end() -> None:
    """Say that the newest step has ended."""
    if _chosen is not None:
        _chosen.ended()


class step:  # noqa: N801 - reads as a function where it is used
    """Marks a training step of a custom loop; does nothing where no session records.

    Use it as `with tfdarshan.step():` around the step, or call it where each step begins: a step then lasts
    until the next one, or the end of the session.

    Args:
        number: The step's number; one more than that of the step before if left out.
    """

    def __init__(self, number: int | None = None) -> None:
        expect_step(number)
        self._log = _log
        self._mark = None if _log is None else _log.begin(number, STEP_CALLS)
        note_step(number)

    def __enter__(self) -> step:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._mark is not None and not self._mark.end_ns:
            self._mark.end(time.time_ns(), _bridge.kernel_reads())
        note_end()

    @contextmanager
    def input_wait(self) -> Iterator[None]:
        """Count what is within as time the step waits for its input, such as `next(batches)`."""
        began = time.time_ns()
        try:
            yield
        finally:
            if self._mark is not None:
                self._mark.input_wait_ns = max(self._mark.input_wait_ns, 0) + time.time_ns() - began


def begin_step(number: int, source: str, epoch: int = UNKNOWN) -> None:
    """Begin a step of a framework that says when, and of which epoch it is, from 1 on."""
    expect_step(number)
    if _log is not None:
        _log.begin(number, source, epoch)
    note_step(number)


def end_step() -> None:
    """End it."""
    if _log is not None:
        _log.end()
    note_end()
