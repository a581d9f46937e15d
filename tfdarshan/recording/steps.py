"""Marks training steps while a session records: `step()` in custom loops, and Keras' batches.

Only where a step began and ended is noted, what the kernel charged the process with meanwhile, and how long
it waited for input where that is told; what its I/O was is looked up when the steps are read. A step that has
ended is a row of 64 bytes in the spool folder, and no longer in this process's memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from types import TracebackType

from tfdarshan.frameworks import batch_log
from tfdarshan.frameworks.batch_log import SOURCES, STEP_CALLS, note_start
from tfdarshan.native import _bridge
from tfdarshan.recording.chosen_steps import ChosenSteps, whole_number
from tfdarshan.sessions.schema import UNKNOWN

# Asking the kernel takes 7 us: steps() does so once in this time at most, so that it costs 1 % at most.
ASKED_NS = 1_000_000

# What read calls returned (rchar) and what storage was asked for (read_bytes), of /proc/self/io.
Reads = tuple[int, int]
# Told of a step that has ended: number, start, end, input wait, rchar, read_bytes, epoch, place in SOURCES,
# number of the thread among those that mark steps.
Note = Callable[[int, int, int, int, int, int, int, int, int], None]
# A time in ns since the epoch, and what the kernel had charged by then.
Moment = tuple[int, "Reads | None"]


@dataclass(slots=True)
class Mark:
    """One step; times in ns since the epoch, `end_ns` 0 while it lasts. `before` is as the step began.

    `source` is a place in SOURCES, `loop` the number of the thread among those that mark steps. The step is
    noted as it ends. It `lasts_on` until the next step of any thread unless its own loop ends it.
    """

    note: Note
    number: int
    source: int
    start_ns: int
    before: Reads | None
    epoch: int
    loop: int = 0
    lasts_on: bool = True
    input_wait_ns: int = UNKNOWN
    end_ns: int = 0

    def end(self, now: int, reads: Reads | None) -> None:
        """End the step, if it still lasts."""
        if self.end_ns:
            return
        self.end_ns = now
        rchar = read_bytes = UNKNOWN
        if self.before is not None and reads is not None:
            rchar, read_bytes = reads[0] - self.before[0], reads[1] - self.before[1]
        self.note(
            self.number, self.start_ns, now, self.input_wait_ns, rchar, read_bytes, self.epoch, self.source,
            self.loop,
        )  # fmt: skip

    def take_back(self) -> None:
        """Have it not noted: it is no step."""
        self.end_ns = UNKNOWN


class StepLog:
    """The steps of one session.

    Args:
        kernel_reads: Gives what the kernel has charged so far.
        first: The number of the first step that has none.
        passes: Passes over the input that have begun before.
        note: Is told of each step as it ends; by default it is noted in the spool folder.
        now: Gives the time; by default that of the session's clock, which nobody sets.
    """

    def __init__(
        self,
        kernel_reads: Callable[[], Reads | None] = _bridge.kernel_reads,
        *,
        first: int = 0,
        passes: int = 0,
        note: Note | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        # Of the thread that marked last, those of others, and the threads' numbers.
        self._newest: Mark | None = None
        self._others: dict[int, Mark] = {}
        self._loops: dict[int, int] = {}
        self._thread = self._loop = UNKNOWN
        self._kernel_reads = kernel_reads
        self._next, self._passes = first, passes
        self._note = note or batch_log.native().step
        self._now = now or batch_log.native().now
        self._asked_ns = 0

    def begin(self, number: int | None, source: str, epoch: int = UNKNOWN) -> Mark:
        """Begin a step and end the one before, if it still lasts."""
        note_start()
        reads = self._kernel_reads()
        now, is_first = self._now(), self._thread == UNKNOWN
        self._end(now, reads)
        if number is not None:
            self._next = whole_number(number, self._next, is_first=is_first)
        place = SOURCES.index(source)
        self._newest = mark = Mark(self._note, self._next, place, now, reads, epoch, self._loop)
        self._next += 1
        return mark

    def request(self) -> Moment:
        """End the newest step, as its loop requests the next batch, and return when that was.

        The kernel is asked what it has charged, but for steps of less than ASKED_NS.
        """
        note_start()
        now, reads = self._now(), None
        if now - self._asked_ns >= ASKED_NS:
            reads = self._kernel_reads()
            self._asked_ns = now = self._now()
        self._end(now, reads)
        return now, reads

    def begin_requested(self, requested: Moment, source: str, epoch: int, *, told: bool = True) -> Mark:
        """Begin a step when its batch was requested, which has come now.

        Args:
            requested: What `request` returned.
            source: What says so.
            epoch: Of which epoch it is.
            told: What has come is a batch, so that the step waited for its input until now.
        """
        now = self._now()
        self._end(now, None)
        place, number = SOURCES.index(source), self._next
        self._next += 1
        wait_ns = now - requested[0] if told else UNKNOWN
        self._newest = mark = Mark(self._note, number, place, *requested, epoch, self._loop, False, wait_ns)
        return mark

    def take_back(self) -> None:
        """Take back this thread's step, which lasts, and the pass that began with it."""
        self._meet_thread()
        mark = self._newest
        if mark is not None and not mark.end_ns:
            mark.take_back()
            self._next = mark.number
            self._passes -= 1

    def next_pass(self) -> int:
        """Return the number of a pass over the input that begins, from 1 on."""
        self._passes += 1
        return self._passes

    def end(self) -> None:
        """End the steps that still last."""
        for mark in (self._newest, *self._others.values()):
            self.finish(mark)

    def end_own(self) -> None:
        """End this thread's step, if it still lasts."""
        self._meet_thread()
        self.finish(self._newest)

    def finish(self, mark: Mark | None) -> None:
        """End a step of this log, if it still lasts."""
        if mark is not None and not mark.end_ns:
            mark.end(self._now(), self._kernel_reads())

    def _end(self, now: int, reads: Reads | None) -> None:
        """End this thread's newest step, and those of others that last until the next one."""
        self._meet_thread()
        if self._newest is not None:
            self._newest.end(now, reads)
        for thread, mark in [*self._others.items()] if self._others else ():
            if mark.lasts_on or mark.end_ns:
                mark.end(now, reads)
                self._others.pop(thread, None)

    def _meet_thread(self) -> None:
        """Have this thread's newest step be the newest."""
        thread = get_ident()
        if thread == self._thread:
            return
        if self._newest is not None:
            self._others[self._thread] = self._newest
        self._newest = self._others.pop(thread, None)
        self._thread, self._loop = thread, self._loops.setdefault(thread, len(self._loops))


_log: StepLog | None = None
# Who waits for some steps, and records these alone.
_chosen: ChosenSteps | None = None


def current_log() -> StepLog | None:
    """Return the steps of the session that records, None if none does."""
    return _log


def begin_log() -> None:
    """Have steps noted from now on."""
    global _log
    if _chosen is None or not _chosen.recording:
        _log = StepLog()
    else:
        # Within the pass that has begun last.
        _log = StepLog(first=_chosen.newest + 1, passes=max(_chosen.passes - 1, 0))


def end_log() -> None:
    """Stop that, and end the newest step."""
    global _log
    log, _log = _log, None
    if log is not None:
        log.end()


def watch_steps(chosen: ChosenSteps | None) -> None:
    """Have someone told of all steps from now on; None: nobody."""
    global _chosen
    _chosen = chosen


def watched_steps() -> ChosenSteps | None:
    """Return who is told of all steps."""
    return _chosen


def expect_step(number: int | None = None, *, may_begin: bool = True) -> None:
    """Say that a step is about to begin, whose recording may end here, or begin, unless it must not."""
    if _chosen is not None:
        _chosen.expect(number, may_begin=may_begin)


def note_step(number: int | None = None) -> None:
    """Say that it has begun."""
    if _chosen is not None:
        _chosen.begun(number)


def note_pass() -> None:
    """Say that a pass over the input begins."""
    if _chosen is not None:
        _chosen.passes += 1


def end_pass() -> None:
    """Say that the request for a batch has ended a pass over the input."""
    if _chosen is not None:
        _chosen.passed()


def take_back_step(*, is_pass: bool) -> None:
    """Say that this thread's newest step is none: passes are within it.

    Args:
        is_pass: Whether its own pass was counted.
    """
    if _chosen is not None:
        _chosen.newest -= 1
        _chosen.passes -= is_pass
    if _log is not None:
        _log.take_back()


def note_end() -> None:
    """Say that the newest step has ended."""
    if _chosen is not None:
        _chosen.ended()


class step:  # noqa: N801 - reads as a function where it is used
    """Marks a training step of a custom loop; does nothing where no session records.

    Use it as `with tfdarshan.step():` around the step, or around the loop's body alone: the time between such
    steps in which input is read is input wait. Or call it where each step begins: a step then lasts
    until the next one, or the end of the session.

    Args:
        number: The step's number; one more than that of the step before if left out. Of arrays that a device
            may have, only the first one is asked for its number: that waits for the device.
    """

    def __init__(self, number: int | None = None) -> None:
        expect_step(number)
        self._log = _log
        self._mark = None if _log is None else _log.begin(number, STEP_CALLS)
        note_step(number)

    def __enter__(self) -> step:
        if self._mark is not None:
            self._mark.lasts_on = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._log is not None:
            self._log.finish(self._mark)
        note_end()

    @contextmanager
    def input_wait(self) -> Iterator[None]:
        """Count what is within as time the step waits for its input, such as `next(batches)`."""
        began = time.monotonic_ns()
        try:
            yield
        finally:
            if self._mark is not None:
                waited_ns = time.monotonic_ns() - began
                self._mark.input_wait_ns = max(self._mark.input_wait_ns, 0) + waited_ns


def begin_step(number: int, source: str, epoch: int = UNKNOWN) -> None:
    """Begin a step of a framework that says when, and of which epoch it is, from 1 on."""
    expect_step(number)
    if _log is not None:
        _log.begin(number, source, epoch)
    note_step(number)


def end_step() -> None:
    """End it."""
    if _log is not None:
        _log.end_own()
    note_end()
