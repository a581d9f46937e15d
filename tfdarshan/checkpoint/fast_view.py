"""The fast tier as TensorFlow sees it: the newest checkpoints under their own names, and a state file."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from tfdarshan.checkpoint.bundle import checkpoint_files
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.checkpoint.retention import Retention, next_state
from tfdarshan.checkpoint.state_file import STATE_NAME, CheckpointState, read_state
from tfdarshan.durable.durable_file import replace_file
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL

WRITING = "writing"


class FastView:
    """Names and removes the checkpoints that TensorFlow writes into the fast tier's folder.

    They are for reading soon after saving; what makes a checkpoint safe is the queue, which shares their
    bytes.

    Args:
        folder: The fast tier.
        storage: The file operations.
        keep: How many checkpoints stay.
    """

    def __init__(self, folder: Path, *, storage: Storage, keep: int) -> None:
        self._folder = folder
        self._control = folder / BURST_CONTROL
        self._writing = folder / BURST_CONTROL / WRITING
        self._storage = storage
        self._retention = Retention(max_to_keep=keep)

    def recover(self) -> None:
        """Remove what an earlier owner left unfinished, and a state file that names nothing."""
        self._storage.make_folder(self._writing)
        state = self.state()
        if state is None or not checkpoint_files(self._folder, state.latest):
            self._storage.remove(self._folder / STATE_NAME)
            state = None
        for intent in self._writing.iterdir():
            if state is None or intent.name not in state.names:
                self._remove_files(intent.name)
            self._storage.remove(intent)

    def state(self) -> CheckpointState | None:
        """Return what the state file names; None where it is missing or was damaged by a power cut."""
        try:
            return read_state(self._folder)
        except BurstBufferError:
            return None

    def begin(self, name: str) -> Path:
        """Return the prefix to write a checkpoint to; nothing of that name is there.

        A file that has been sealed shares its bytes with the queue: it must not be written again in place.
        """
        self._storage.mark(self._writing / name)
        self._remove_files(name)
        return self._folder / name

    def finish(self, name: str, saved_at: float) -> None:
        """Name a checkpoint that was written and sealed, and remove the oldest beyond what stays."""
        state, dropped = next_state(self.state(), name, saved_at, self._retention)
        replace_file(self._storage, self._folder / STATE_NAME, state.text(), scratch=self._control)
        self._storage.remove(self._writing / name)
        for old in dropped:
            self._remove_files(old)

    def adopt(self, entry: Entry, source: Path) -> Path:
        """Give a waiting checkpoint of an earlier run a name to restore from; return its prefix."""
        prefix = self.begin(entry.name)
        for file in entry.files:
            self._storage.link(source / file, self._folder / file)
        self.finish(entry.name, entry.saved_at)
        return prefix

    def abandon(self, name: str) -> None:
        """Remove a checkpoint that could not be written."""
        with suppress(OSError):
            self._remove_files(name)
            self._storage.remove(self._writing / name)

    def make_room(self) -> bool:
        """Remove all that TensorFlow sees, which the queue does not need; False where there was nothing."""
        state = self.state()
        names = sorted(state.names) if state else []
        self._storage.remove(self._folder / STATE_NAME)
        for name in names:
            self._remove_files(name)
        return bool(names)

    def _remove_files(self, name: str) -> None:
        for file in checkpoint_files(self._folder, name):
            self._storage.remove(self._folder / file)
        shutil.rmtree(self._folder / f"{name}_temp", ignore_errors=True)
