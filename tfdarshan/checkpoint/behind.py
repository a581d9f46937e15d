"""Writing behind a training loop: what it has written is made durable by a thread."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from tfdarshan.errors import ConfigurationError

# How often a file is synced at most, in seconds.
EVERY_S = 1.0
# Files that wait for a sync, each with a descriptor. A loop that writes more waits for the oldest itself.
MOST_FILES = 128


class HasDescriptor(Protocol):
    """An open file, as `open` and `os.fdopen` give it."""

    def fileno(self) -> int:
        """Return its descriptor."""
        ...


def sync_behind(file: HasDescriptor | int, *, every_s: float = EVERY_S) -> None:
    """Have a thread sync a file, in place of an `os.fsync` that the training loop waits for.

    What was written before the call is on the device `every_s` seconds later, and what the sync itself takes:
    of all calls meanwhile one sync is made. What a file object buffers is not written yet: flush it before,
    as for `os.fsync`. The file may be closed at once. When the program ends, what is due is synced first.

    Args:
        file: An open file, or a descriptor.
        every_s: How often the file is synced at most, in seconds.

    Raises:
        ConfigurationError: `every_s` is not above 0.
        OSError: An earlier sync failed, of whatever file: what was written before it may be lost.
    """
    if not every_s > 0:
        raise ConfigurationError(f"sync_behind waits for a time above 0: give every_s=1.0, not {every_s}.")
    _SYNCS.ask(file if isinstance(file, int) else file.fileno(), every_s)


@dataclass
class _Due:
    """A file that is to be synced: a descriptor of its own, and when, by `time.monotonic`."""

    descriptor: int
    at_s: float


@dataclass
class _Syncs:
    """The files that are to be synced, by device and inode, and the thread that does so."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    due: dict[tuple[int, int], _Due] = field(default_factory=dict)
    thread: threading.Thread | None = None
    syncing: int = 0
    ended: bool = False
    error: OSError | None = None

    def ask(self, descriptor: int, every_s: float) -> None:
        """Remember a file, whose sync is due after an interval: then it is of what else is written, too."""
        status = os.fstat(descriptor)
        key, oldest = (status.st_dev, status.st_ino), None
        with self.changed:
            self._raise_error()
            if key not in self.due:
                if len(self.due) >= MOST_FILES:
                    oldest = self.due.pop(min(self.due, key=lambda one: self.due[one].at_s))
                    self.syncing += 1
                self.due[key] = _Due(os.dup(descriptor), time.monotonic() + every_s)
            if self.thread is None and not self.ended:
                self._begin()
            self.changed.notify_all()
        if oldest is not None:
            self._sync(oldest)
            with self.changed:
                self.syncing -= 1
                self.changed.notify_all()
        if self.ended or self.thread is None:
            self.finish()

    def _begin(self) -> None:
        thread = threading.Thread(target=self._run, name="sync-behind", daemon=True)
        with suppress(RuntimeError):  # this user may have no more threads: then the caller syncs
            thread.start()
            self.thread = thread
            atexit.register(self.end)
            # A worker of multiprocessing ends without what atexit has.
            if "multiprocessing.util" in sys.modules:
                sys.modules["multiprocessing.util"].Finalize(None, self.end, exitpriority=0)

    def end(self) -> None:
        """Sync all that is due, and from now on at once: the program ends.

        Raises:
            OSError: A sync failed.
        """
        self.ended = True
        self.finish()

    def finish(self) -> None:
        """Sync all that is due or will be.

        Raises:
            OSError: A sync failed.
        """
        with self.changed:
            while self.syncing:
                self.changed.wait()
            left, self.due = list(self.due.values()), {}
            for one in left:
                self._sync(one)
            self._raise_error()

    def forget(self) -> None:
        """Leave all to the parent, in a child: it has no thread, and the parent syncs."""
        for one in self.due.values():
            os.close(one.descriptor)
        self.__init__()  # type: ignore[misc]

    def _run(self) -> None:
        with self.changed:
            while True:
                key = min(self.due, key=lambda one: self.due[one].at_s, default=None)
                if key is None:
                    self.changed.wait()
                    continue
                left_s = self.due[key].at_s - time.monotonic()
                if left_s > 0:
                    self.changed.wait(left_s)
                    continue
                one = self.due.pop(key)
                self.syncing += 1
                self.changed.release()
                try:
                    self._sync(one)
                finally:
                    self.changed.acquire()
                    self.syncing -= 1
                    self.changed.notify_all()

    def _sync(self, one: _Due) -> None:
        try:
            os.fsync(one.descriptor)
        except OSError as error:
            self.error = error
        try:
            os.close(one.descriptor)
        except OSError as error:
            self.error = error

    def _raise_error(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


_SYNCS = _Syncs()
os.register_at_fork(after_in_child=_SYNCS.forget)
