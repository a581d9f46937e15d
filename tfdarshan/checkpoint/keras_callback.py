"""A Keras callback that saves as ModelCheckpoint does, through a fast tier. Importing this imports Keras."""

from __future__ import annotations

import os
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keras

from tfdarshan.checkpoint.bundle import single_file
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.drain import DrainStatus
from tfdarshan.checkpoint.fast_tier import new_id
from tfdarshan.checkpoint.fast_view import WRITING
from tfdarshan.checkpoint.pipeline import Pipeline, tier_folders
from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.notice import warn
from tfdarshan.sessions.session_directory import BURST_CONTROL

# What keras.callbacks.ModelCheckpoint has of its own.
KERAS_OPTIONS = (
    "monitor",
    "verbose",
    "save_best_only",
    "save_weights_only",
    "mode",
    "save_freq",
    "initial_value_threshold",
)


class BurstModelCheckpoint(keras.callbacks.ModelCheckpoint):  # type: ignore[misc]
    """Saves `.keras`, `.h5` and `.weights.h5` files as ModelCheckpoint does, through a fast tier.

    A file appears under its own name at once and whole, and replaces one that has the name. When training
    ends the callback waits until all are durable. Callbacks of one process may share both folders.

    Args:
        filepath: As in ModelCheckpoint, with the epoch and metrics as placeholders in the file's name. The
            folder, on slow, lasting storage, is for this job alone.
        fast_dir: Folder on fast storage, for this job alone.
        options: Those of ModelCheckpoint (monitor, verbose, save_best_only, save_weights_only, mode,
            save_freq, initial_value_threshold) and of `tfdarshan.checkpoint.pipeline.BurstOptions`; none is
            for retention, as files with names of their own all stay.

    Raises:
        ConfigurationError: An option or a folder cannot be used.
        TierInUseError: Another burst buffer, or another process, owns one of the folders.
        BurstBufferError: A folder cannot be read or written.
    """

    def __init__(
        self, filepath: str | os.PathLike[str], *, fast_dir: str | os.PathLike[str], **options: Any
    ) -> None:
        slow_dir, pattern = os.path.split(os.fspath(filepath))
        if "{" in slow_dir:
            raise ConfigurationError(
                f"the folder of filepath {os.fspath(filepath)!r} must be without placeholders: "
                "it is the slow tier."
            )
        own = {name: options.pop(name) for name in KERAS_OPTIONS if name in options}
        try:
            chosen = BurstOptions(**options)
        except TypeError as error:
            raise ConfigurationError(f"BurstModelCheckpoint has no such option: {reason(error)}.") from error
        self._fresh = Path(fast_dir).absolute() / BURST_CONTROL / WRITING
        super().__init__(os.fspath(self._fresh / pattern), **own)
        self._shared = _share(self, fast_dir, slow_dir or ".", chosen)
        self._pipeline = self._shared.pipeline
        self._fresh.mkdir(exist_ok=True)
        self._forget_leftovers()
        self._step = 0

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Save where it is time to."""
        self._step += 1
        self._timed(super().on_train_batch_end, batch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Save where it is time to."""
        self._timed(super().on_epoch_end, epoch, logs)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Wait until all that was saved is durable."""
        super().on_train_end(logs)
        self._pipeline.drain.wait_patiently(self._pipeline.options.wait_limit_s)
        if undone := self._pipeline.undone:
            warn(undone)

    def status(self) -> DrainStatus:
        """Describe what waits for the slow tier, what is durable there, and what is wrong with it."""
        return self._pipeline.status()

    def close(self) -> bool:
        """Wait for what is not durable yet, and say whether all is.

        The last callback of both folders returns them up.
        """
        self._shared.users.discard(self)
        if self._shared.users:
            return self._pipeline.drain.wait_patiently(self._pipeline.options.wait_limit_s)
        return self._pipeline.close()

    def _forget_leftovers(self) -> None:
        for leftover in self._fresh.iterdir():
            leftover.unlink()

    def _timed(self, hook: Any, number: int, logs: dict[str, Any] | None) -> None:
        began_s, saved_at = time.monotonic(), time.time()
        try:
            hook(number, logs)
        except BaseException:
            self._forget_leftovers()  # what was being written is not whole
            raise
        for path in sorted(self._fresh.iterdir()):
            self._take(path, began_s, saved_at)

    def _take(self, path: Path, began_s: float, saved_at: float) -> None:
        """Seal a file that Keras has just written, and take it out of Keras's reach."""
        unique, written_s = new_id(), time.monotonic()
        about = {"checkpoint": path.name, "step": self._step, "saved_at": saved_at}
        admitted = self._pipeline.drain.admit()
        waited_s = time.monotonic() - written_s
        if admitted:
            self._pipeline.capture(single_file(path), unique=unique, saved_at=saved_at, step=self._step)
        with suppress(FileNotFoundError):
            path.unlink()
        event, blocked_s = "saved" if admitted else "skipped", time.monotonic() - began_s
        self._pipeline.ledger.record(event, unique, blocked_s=blocked_s, waited_s=waited_s, **about)


@dataclass(frozen=True)
class _Shared:
    """The pipeline between two folders, and the callbacks that use it and are not closed."""

    pipeline: Pipeline
    users: weakref.WeakSet[BurstModelCheckpoint] = field(default_factory=weakref.WeakSet)


_shared: dict[tuple[Path, Path], _Shared] = {}


def _share(
    callback: BurstModelCheckpoint,
    fast_dir: str | os.PathLike[str],
    slow_dir: str | os.PathLike[str],
    options: BurstOptions,
) -> _Shared:
    """Return the pipeline that a callback saves through, which others of its folders may use, too.

    Raises:
        ConfigurationError: Another one's options differ, or a folder cannot be used.
    """
    folders = tier_folders(fast_dir, slow_dir)
    shared = _shared.get(folders)
    if shared is not None and shared.pipeline.options != options:
        if shared.users:
            raise ConfigurationError(
                f"another BurstModelCheckpoint saves from {folders[0]} to {folders[1]} with other options: "
                "close() that one, or give both the same."
            )
        shared.pipeline.close()
    if shared is None or not shared.pipeline.usable:
        shared = _shared[folders] = _Shared(Pipeline(*folders, options))
    shared.users.add(callback)
    return shared
