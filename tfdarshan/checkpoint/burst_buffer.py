"""`BurstBuffer`: saves TensorFlow checkpoints as tf.train.CheckpointManager does, through a fast tier."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tfdarshan.checkpoint.bundle import find_bundle, growing_shard, number_of
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.capture import Background
from tfdarshan.checkpoint.drain import DrainStatus
from tfdarshan.checkpoint.fast_tier import new_id
from tfdarshan.checkpoint.fast_view import FastView
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.checkpoint.snapshot import CannotMirrorError, Snapshot
from tfdarshan.checkpoint.state_file import CheckpointState
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.notice import warn

# Words by which TensorFlow says that a file system is full; it raises errors of its own kind.
FULL = ("No space left", "ENOSPC", "Disk quota")


class BurstBuffer:
    """Saves to a fast tier, and makes each checkpoint durable on a slow tier in the background.

    A drop-in for tf.train.CheckpointManager: `save`, `restore_or_initialize`, `latest_checkpoint`,
    `checkpoints`, `sync` and its options work as there. At any instant
    `tf.train.latest_checkpoint(slow_dir)` names a complete checkpoint. Use it in a `with` statement, or call
    `close()`, to wait at the end for what is not durable yet.

    Args:
        checkpoint: The tf.train.Checkpoint to save.
        fast_dir: Folder on fast storage, for this job alone.
        slow_dir: Folder on slow, lasting storage, for this job alone.
        checkpoint_name: Checkpoints are named `<checkpoint_name>-<number>`.
        step_counter: Variable with the training step; it is noted in the ledger as well.
        checkpoint_interval: Steps between checkpoints: a save before is left out.
        init_fn: Called by `restore_or_initialize` if there is no checkpoint.
        asynchronous: Whether `save` returns as soon as the values are held, and they are written meanwhile.
            What cannot be held, such as a tf.data iterator, makes a save wait for its writing.
        fast_to_keep: Checkpoints that stay on the fast tier under their own names.
        storage: The file operations, which tests let fail.
        options: See `tfdarshan.checkpoint.pipeline.BurstOptions`: max_to_keep, keep_checkpoint_every_n_hours,
            max_pending, when_full, wait_limit_s, retry_s, bandwidth_mb_s, buffer_mb, verify, nice,
            drain_at_exit.

    Raises:
        ConfigurationError: An option or a folder cannot be used.
        TierInUseError: Another burst buffer owns one of the folders.
        BurstBufferError: A folder cannot be read or written.
    """

    def __init__(
        self,
        checkpoint: Any,
        *,
        fast_dir: str | os.PathLike[str],
        slow_dir: str | os.PathLike[str],
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        asynchronous: bool = True,
        fast_to_keep: int = 1,
        storage: Storage | None = None,
        **options: Any,
    ) -> None:
        if checkpoint_interval is not None and step_counter is None:
            raise ConfigurationError("step_counter must be given where checkpoint_interval is.")
        if not checkpoint_name or "/" in checkpoint_name:
            raise ConfigurationError(f"checkpoint_name must be a name without '/', not {checkpoint_name!r}.")
        self._checkpoint = checkpoint
        self._name = checkpoint_name
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._last_step: int | None = None
        self._init_fn = init_fn
        self._asynchronous = asynchronous
        self._snapshot = Snapshot(checkpoint)
        self._writing = Background("tfdarshan burst capture")
        storage = storage or Storage()
        self._pipeline = Pipeline(fast_dir, slow_dir, _options(options), storage=storage)
        self._view = FastView(self._pipeline.fast.folder, storage=storage, keep=fast_to_keep)
        self._view.recover()
        self._latest = self._newest_of_before()
        self._number = self._highest_number()

    @property
    def checkpoint(self) -> Any:
        """The tf.train.Checkpoint that is saved."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The slow tier's folder, where checkpoints end up."""
        return str(self._pipeline.slow.folder)

    @property
    def checkpoint_interval(self) -> int | None:
        """Steps between checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint that can be restored now, on whichever tier; None where there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """All managed checkpoints from the oldest to the newest: the slow tier's, then those that wait."""
        state = self._slow_state()
        durable = [str(self._pipeline.slow.folder / name) for name, _ in state.kept] if state else []
        return durable + [str(self._prefix_of(entry)) for entry in self._pipeline.status().pending]

    @property
    def durable_checkpoint(self) -> str | None:
        """The newest checkpoint that is durable on the slow tier; None where there is none."""
        state = self._slow_state()
        return str(self._pipeline.slow.folder / state.latest) if state else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Save a checkpoint.

        Args:
            checkpoint_number: Its number; None takes the next.
            check_interval: Whether a save within `checkpoint_interval` of the last is left out.
            options: A tf.train.CheckpointOptions.

        Returns:
            The checkpoint's path on the fast tier, there at the latest after `sync()`; None where none was
            made.

        Raises:
            BurstBufferError: This or the save before could not be written to the fast tier.
        """
        self._pipeline.check_usable()
        began_s, saved_at = time.monotonic(), time.time()
        step = self._step()
        if not self._due(step, check_interval):
            return None
        unique = new_id()
        self._join_writing()
        admitted = self._pipeline.drain.admit()
        waited_s = time.monotonic() - began_s
        if not admitted:
            self._pipeline.ledger.record("skipped", unique, step=step, saved_at=saved_at, blocked_s=waited_s)
            return None
        self._last_step = step
        name = f"{self._name}-{self._next_number(checkpoint_number)}"
        prefix = self._begin(name)
        self._write(prefix, options, unique=unique, saved_at=saved_at, step=step)
        self._pipeline.ledger.record(
            "saved",
            unique,
            checkpoint=name,
            step=step,
            saved_at=saved_at,
            blocked_s=time.monotonic() - began_s,
            waited_s=waited_s,
        )
        return str(prefix)

    def restore_or_initialize(self) -> str | None:
        """Restore the newest checkpoint of both tiers; without one, call `init_fn`.

        Returns:
            The path of the checkpoint that was restored; None where there was none.

        Raises:
            BurstBufferError: The slow tier is away, so that it cannot be said which is the newest.
        """
        self.sync()
        if self._latest is None and not self._pipeline.slow.present():
            raise BurstBufferError(
                f"slow tier {self._pipeline.slow.folder} is away, and with it the checkpoints to restore: "
                "mount it and try again."
            )
        if self._latest is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint.restore(self._latest)
        if self._interval is not None:
            self._last_step = self._step()
        return self._latest

    def sync(self) -> None:
        """Wait until all that was saved is durable on the fast tier.

        Raises:
            BurstBufferError: It could not be written.
        """
        self._join_writing()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was saved is durable on the slow tier; False where the time was up before."""
        self.sync()
        return self._pipeline.wait(timeout_s)

    def status(self) -> DrainStatus:
        """Describe what waits for the slow tier, what is durable there, and what is wrong with it."""
        return self._pipeline.status()

    def close(self, *, wait: bool = True) -> bool:
        """Wait for what is not durable yet, unless told not to, and return both folders up.

        Returns:
            Whether all that was saved is durable; what is not waits on the fast tier for the next run.
        """
        try:
            self.sync()
        finally:
            done = self._pipeline.close(wait=wait)
            if wait and (undone := self._pipeline.undone):
                warn(undone)
        return done

    def __enter__(self) -> BurstBuffer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, prefix: Path, options: Any, **about: Any) -> None:
        """Write now, or hold the values and write them meanwhile."""
        held = None
        if self._asynchronous:
            with suppress(CannotMirrorError):
                held = self._snapshot.take()
        options = _synchronous(options)

        def write() -> None:
            try:
                entry = self._captured(held or self._checkpoint, prefix, options, about)
            except BaseException as error:
                self._view.abandon(prefix.name)
                self._latest = self._still_there(self._latest)
                self._pipeline.ledger.record(
                    "failed", about["unique"], checkpoint=prefix.name, reason=reason(error)
                )
                raise
            self._latest = str(prefix)
            with suppress(OSError):
                # The checkpoint is safe; this is for those who look into the fast tier.
                self._view.finish(entry.name, entry.saved_at)

        self._writing.start(write)
        if held is None:
            self._join_writing()

    def _captured(self, checkpoint: Any, prefix: Path, options: Any, about: dict[str, Any]) -> Entry:
        """Write and seal; where the fast tier is full, try again as checkpoints leave it."""
        while True:
            waiting = len(self._pipeline.status().pending)
            try:
                with self._pipeline.written_meanwhile(about["unique"], partial(growing_shard, prefix)):
                    checkpoint.write(str(prefix), options=options)
                return self._pipeline.capture(find_bundle(prefix), **about)
            except Exception as error:
                if not any(word in str(error) for word in FULL) or not self._make_room(prefix.name, waiting):
                    raise

    def _still_there(self, prefix: str | None) -> str | None:
        """Return the newest checkpoint once room was made for one that could not be written after all."""
        if prefix is None:
            return None
        with suppress(OSError):
            find_bundle(Path(prefix))
            return prefix
        with suppress(OSError):
            return self._newest_of_before()
        return self.durable_checkpoint

    def _make_room(self, name: str, waiting: int) -> bool:
        """Free what it can of the fast tier; False where nothing became free since `waiting` waited."""
        self._view.begin(name)
        freed = self._view.make_room()
        return freed or self._pipeline.drain.wait_for_progress(waiting, self._pipeline.options.wait_limit_s)

    def _join_writing(self) -> None:
        try:
            self._writing.join()
        except BurstBufferError:
            raise
        except Exception as error:
            raise BurstBufferError(
                f"a checkpoint could not be written to {self._pipeline.fast.folder}: {reason(error)}; "
                f"the last that is durable is {self.durable_checkpoint}."
            ) from error

    def _begin(self, name: str) -> Path:
        try:
            return self._view.begin(name)
        except OSError as error:
            raise BurstBufferError(
                f"fast tier {self._pipeline.fast.folder} cannot be written: {reason(error)}."
            ) from error

    def _slow_state(self) -> CheckpointState | None:
        """Return the slow tier's state; None where it has none, or is away."""
        try:
            return self._pipeline.slow.state()
        except OSError:
            return None

    def _step(self) -> int | None:
        return None if self._step_counter is None else int(self._step_counter)

    def _due(self, step: int | None, check_interval: bool) -> bool:
        if self._interval is None or step is None or self._last_step is None:
            return True
        if step == self._last_step:
            return False
        return not check_interval or step >= self._last_step + self._interval

    def _next_number(self, given: Any) -> int:
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        if given is not None:
            number = int(given)
        else:
            # A run that restored nothing begins at 1 again: it must not take the names of what is there.
            number = max(int(counter), self._number + 1)
            counter.assign(number)
        self._number = max(self._number, number)
        return number

    def _newest_of_before(self) -> str | None:
        """Return the newest checkpoint of earlier runs: one that waits, unless overtaken by others."""
        slow = self._pipeline.slow
        waiting = [entry for entry in self._pipeline.status().pending if entry.kind == "tensorflow"]
        if waiting and not (slow.present() and slow.stale(waiting[-1])):
            return str(self._view.adopt(waiting[-1], self._pipeline.fast.path(waiting[-1])))
        return self.durable_checkpoint if slow.present() else None

    def _highest_number(self) -> int:
        names = [entry.name for entry in self._pipeline.status().pending]
        for state in (self._slow_state(), self._view.state()):
            names += sorted(state.names) if state else []
        mine = [name for name in names if name.startswith(f"{self._name}-")]
        return max((number_of(name) or 0 for name in mine), default=0)

    def _prefix_of(self, entry: Entry) -> Path:
        return self._pipeline.fast.path(entry) / entry.name


def _options(given: dict[str, Any]) -> BurstOptions:
    try:
        return BurstOptions(**given)
    except TypeError as error:
        raise ConfigurationError(f"BurstBuffer has no such option: {reason(error)}.") from error


def _synchronous(options: Any) -> Any:
    """Return the options without asynchronous saving: when writing returns the files are there."""
    if options is None:
        return None
    changed = copy.copy(options)
    changed.enable_async = changed.experimental_enable_async_checkpoint = False
    return changed
