"""Takes waiting checkpoints to the slow tier in the background, one at a time, the oldest first."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tfdarshan.checkpoint.bundle import series_of
from tfdarshan.checkpoint.burst_errors import (
    CopyCancelledError,
    SourceError,
    StaleCheckpointError,
    TierAwayError,
    TierInUseError,
)
from tfdarshan.checkpoint.burst_options import WHEN_FULL, WhenFull
from tfdarshan.checkpoint.copying import Growing
from tfdarshan.checkpoint.fast_tier import FastTier
from tfdarshan.checkpoint.ledger import Ledger
from tfdarshan.checkpoint.manifest import Entry, Published
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.slow_tier import Publication, SlowTier
from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.notice import say

# An entry that the fast tier does not give back this often is set aside: those behind it still can be saved.
SOURCE_TRIES = 3
# A call to storage that hangs cannot be ended: the process that wants to end does not wait for it.
STOP_LIMIT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class DrainOptions:
    """How the drain goes about it.

    Attributes:
        max_pending: Checkpoints that may wait or be copied when another is saved.
        when_full: What a save does when so many wait: "wait" for one to become durable, "skip" itself, or
            save and keep only the "newest" of those whose copying has not begun. Each series has its
            newest: names that differ by more than their numbers are of different ones.
        wait_limit_s: How long "wait" waits before it does as "newest" does: a slow tier that is away must
            not hold up a job for ever.
        first_retry_s: Seconds before the slow tier is tried again; doubled after each failure.
        last_retry_s: The most seconds between two tries.
        nice: The thread's niceness, 0 to 19: how far it gives way to training.
    """

    max_pending: int = 2
    when_full: WhenFull = "wait"
    wait_limit_s: float = 600.0
    first_retry_s: float = 0.5
    last_retry_s: float = 30.0
    nice: int = 5

    def __post_init__(self) -> None:
        if self.when_full not in WHEN_FULL:
            raise ConfigurationError(
                f"when_full must be one of {', '.join(WHEN_FULL)}, not {self.when_full!r}."
            )
        if self.max_pending < 1:
            raise ConfigurationError(f"max_pending must be 1 or more, not {self.max_pending!r}.")
        if not 0 <= self.nice <= 19:
            raise ConfigurationError(f"nice must be from 0 to 19, not {self.nice!r}.")


@dataclass(frozen=True)
class _Ahead:
    """A checkpoint that is or was copied before it is in the queue."""

    id: str
    given_up: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class DrainStatus:
    """Where the drain stands.

    Attributes:
        pending: What waits, oldest first.
        durable: What was made durable last.
        problem: What keeps it from going on, "" if nothing does.
        tries: How often the oldest was tried.
        aside: What will not be made durable, a sentence each, with where it is kept.
    """

    pending: tuple[Entry, ...]
    durable: Published | None
    problem: str
    tries: int
    aside: tuple[str, ...] = ()


class Drain:
    """A thread that owns the slow tier.

    Args:
        fast: The fast tier, open.
        slow: The slow tier; it is opened here, and again whenever it comes back.
        ledger: What happened is written to it.
        options: How to go about it.
        on_durable: Called in the thread after each checkpoint that became durable.
    """

    def __init__(
        self,
        fast: FastTier,
        slow: SlowTier,
        ledger: Ledger,
        options: DrainOptions,
        *,
        on_durable: Callable[[Publication], None] | None = None,
        cancel: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._fast = fast
        self._slow = slow
        self._ledger = ledger
        self._options = options
        self._on_durable = on_durable
        self._cancel = cancel
        self._clock = clock
        self._changed = threading.Condition()
        self._pending: list[Entry] = []
        self._active = ""  # id of the entry that is copied or published
        self._expected: tuple[str, Growing] | None = None  # a checkpoint that is being written
        self._announced: Entry | None = None  # one that is written and being sealed
        self._ahead: _Ahead | None = None  # what is or was copied before it is in the queue
        self._stopping = False
        self._problem = ""
        self._tries = 0
        self._durable: Published | None = None
        self._aside: list[str] = []
        self._thread = threading.Thread(target=self._run, name="tfdarshan burst drain", daemon=True)

    def start(self, waiting: list[Entry]) -> None:
        """Start with what an earlier owner left waiting."""
        self._pending = list(waiting)
        self._thread.start()

    def expect(self, entry_id: str, growing: Growing) -> None:
        """Take note of a checkpoint that is being written: its largest file may be copied meanwhile."""
        with self._changed:
            self._expected = entry_id, growing
            self._changed.notify_all()

    def announce(self, entry: Entry) -> None:
        """Take note of a checkpoint whose files are all there: it may be copied while it is being sealed."""
        with self._changed:
            self._expected, self._announced = None, entry
            self._changed.notify_all()

    def withdraw(self, entry_id: str) -> None:
        """Take back what was expected or announced: it is not sealed and never will be.

        Return once its files are not read any more: an open file keeps its room on the fast tier.
        """
        with self._changed:
            self._expected = self._announced = None
            ahead = self._ahead
            if ahead is None or ahead.id != entry_id:
                return
            ahead.given_up.set()
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._ahead is not ahead, timeout=STOP_LIMIT_S)

    def add(self, entry: Entry) -> None:
        """Add a checkpoint that the fast tier has sealed."""
        with self._changed:
            self._expected = self._announced = None
            self._pending.append(entry)
            if self._options.when_full == "newest" or len(self._pending) > self._options.max_pending:
                self._supersede()
            self._changed.notify_all()

    def admit(self) -> bool:
        """Apply back pressure before a save: wait if it has to; False where the save is to be skipped."""
        with self._changed:
            if len(self._pending) < self._options.max_pending or self._options.when_full == "newest":
                return True
            if self._options.when_full == "skip":
                return False
            # Without room by then it takes the place of those that wait.
            self._changed.wait_for(self._has_room, timeout=self._options.wait_limit_s)
            return True

    def wait(self, timeout_s: float | None = None, *, give_up_on_problem: bool = False) -> bool:
        """Wait until all that was added is durable; False where it is not.

        Args:
            timeout_s: The longest to wait, None for ever.
            give_up_on_problem: Whether to stop waiting when the slow tier has failed and is to be tried
                again.
        """

        def over() -> bool:
            return (
                not self._pending
                or not self._thread.is_alive()
                or (give_up_on_problem and bool(self._problem))
            )

        with self._changed:
            self._changed.wait_for(over, timeout=timeout_s)
            return self._is_all_durable()

    def wait_patiently(self, limit_s: float) -> bool:
        """Wait until all is durable; False where the slow tier failed for `limit_s` without any progress."""
        with self._changed:
            while self._pending and self._thread.is_alive():
                gone = self._changed.wait_for(self._fewer_than(len(self._pending)), timeout=limit_s)
                if not gone and self._problem:
                    break
            return self._is_all_durable()

    def wait_for_progress(self, before: int, timeout_s: float) -> bool:
        """Wait until fewer than `before` wait; False where the time is up or the slow tier fails before."""
        with self._changed:
            if not self._pending and not before:
                return False
            self._changed.wait_for(lambda: len(self._pending) < before or bool(self._problem), timeout_s)
            return len(self._pending) < before

    def stop(self) -> bool:
        """End the thread; a copy under way is given up and done again by the next owner.

        Returns:
            Whether it ended; if not, a call to storage hangs, and the slow tier stays its own.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._cancel()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_LIMIT_S)
            if self._thread.is_alive():
                return False
        self._slow.close()
        return True

    def status(self) -> DrainStatus:
        """Describe where it stands."""
        with self._changed:
            return DrainStatus(
                tuple(self._pending), self._durable, self._problem, self._tries, tuple(self._aside)
            )

    def _is_all_durable(self) -> bool:
        return not self._pending and not self._aside

    def _fewer_than(self, count: int) -> Callable[[], bool]:
        return lambda: len(self._pending) < count

    def _has_room(self) -> bool:
        return len(self._pending) < self._options.max_pending or not self._thread.is_alive()

    def _supersede(self) -> None:
        """Drop what waits but for the newest of its series and the one whose copying has begun."""
        newest = {series_of(entry.name): entry for entry in self._pending}
        for entry in list(self._pending):
            if entry.id != self._active and entry is not newest[series_of(entry.name)]:
                self._pending.remove(entry)
                with suppress(OSError):
                    self._fast.remove(entry)
                self._ledger.record("superseded", entry.id, checkpoint=entry.name)

    def _run(self) -> None:
        with suppress(OSError):
            thread = threading.get_native_id()
            own = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, max(own, self._options.nice))
        while (work := self._next()) is not None:
            work()
        self._discard_ahead()

    def _next(self) -> Callable[[], None] | None:
        """Wait for something to do; None when it is to end."""
        with self._changed:
            self._active = ""
            while not self._stopping:
                if self._ahead is not None and self._ahead.given_up.is_set():
                    return self._discard_ahead
                if self._pending:
                    entry = self._pending[0]
                    self._active = entry.id
                    return partial(self._drain, entry)
                if (work := self._work_ahead()) is not None:
                    return work
                self._changed.wait()
            return None

    def _work_ahead(self) -> Callable[[], None] | None:
        """Return what can be done for a checkpoint that is not in the queue yet."""
        if self._announced is not None:
            entry = self._announced
            if self._ahead is not None and self._ahead.id != entry.id:
                return self._discard_ahead
            self._announced, self._active = None, entry.id
            self._ahead = self._ahead or _Ahead(entry.id)
            return partial(self._copy_ahead, partial(self._slow.bring, entry, self._source_of(entry)))
        if self._expected is not None:
            if self._ahead is not None:
                return self._discard_ahead
            (entry_id, growing), self._expected = self._expected, None
            self._ahead, self._active = _Ahead(entry_id), entry_id
            return partial(self._copy_ahead, partial(self._slow.follow, entry_id, growing))
        return None

    def _copy_ahead(self, copy: Callable[..., None]) -> None:
        """Copy; if that fails, it is done again, and told, once the entry is in the queue."""
        assert self._ahead is not None
        with suppress(Exception):
            copy(given_up=self._ahead.given_up)

    def _source_of(self, entry: Entry) -> Callable[[], Path]:
        return partial(self._fast.source, entry)

    def _drain(self, entry: Entry) -> None:
        try:
            self._take(entry)
        except CopyCancelledError:
            return
        except StaleCheckpointError as error:
            self._set_aside(entry, "stale", str(error))
        except SourceError as error:
            if self._tries + 1 >= SOURCE_TRIES:
                self._set_aside(entry, "failed", reason(error))
            else:
                self._pause(error)
        except Exception as error:
            # Whatever it is, the checkpoint is safe where it is, and training goes on.
            self._pause(error)

    def _discard_ahead(self) -> None:
        if self._ahead is not None:
            self._slow.discard(self._ahead.id)
        with self._changed:
            self._ahead = None
            self._changed.notify_all()

    def _take(self, entry: Entry) -> None:
        if not self._slow.present():
            self._slow.close()
            open_slow(self._slow, self._fast)
        if self._ahead is not None and self._ahead.id != entry.id:
            self._discard_ahead()
        self._ahead = None
        publication = self._slow.publish(entry, self._source_of(entry))
        durable_at, tries = self._clock(), self._tries + 1
        # Durably, before the next one is published: an older checkpoint must not come back after a newer one.
        self._fast.remove(entry)
        with self._changed:
            self._pending.remove(entry)
            waiting = tuple(self._pending)
            self._durable, self._problem, self._tries = publication.published, "", 0
        self._ledger.record(
            "slow_durable",
            entry.id,
            checkpoint=entry.name,
            target=publication.published.target,
            step=entry.step,
            saved_at=entry.saved_at,
            size_bytes=entry.size_bytes,
            files=len(entry.files),
            fast_durable_at=entry.fast_durable_at,
            slow_durable_at=durable_at,
            copy_s=publication.copy_s,
            verify_s=publication.verify_s,
            tries=tries,
            backlog_checkpoints=len(waiting),
            backlog_bytes=sum(other.size_bytes for other in waiting),
        )
        if self._on_durable is not None:
            self._on_durable(publication)
        with self._changed:
            self._changed.notify_all()

    def _set_aside(self, entry: Entry, outcome: str, why: str) -> None:
        try:
            kept = self._fast.set_aside(entry)
        except OSError as error:
            self._pause(error)
            return
        why = f"{why.rstrip('.')}. It is kept in {kept}."
        self._ledger.record(outcome, entry.id, checkpoint=entry.name, reason=why)
        said = f"{entry.name} was not made durable: {why}"
        say(said)
        with self._changed:
            self._aside.append(said)
            self._pending.remove(entry)
            self._problem, self._tries = "", 0
            self._changed.notify_all()

    def _pause(self, error: Exception) -> None:
        """Say what is wrong and wait before the next try."""
        with self._changed:
            self._problem = _sentence(error)
            self._tries += 1
            delay_s = self._options.first_retry_s * 2 ** min(self._tries - 1, 16)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._stopping, timeout=min(delay_s, self._options.last_retry_s))


def _sentence(error: Exception) -> str:
    if isinstance(error, (TierAwayError, TierInUseError)):
        return str(error)
    path = getattr(error, "filename", None)
    return f"{path}: {reason(error)}" if path else f"{type(error).__name__}: {reason(error)}"
