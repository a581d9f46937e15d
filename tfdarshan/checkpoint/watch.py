"""Takes over the checkpoints of a job that knows nothing of it, from the folder that the job writes to."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.checkpoint.bundle import INDEX, Bundle, find_bundle, single_file
from tfdarshan.checkpoint.burst_errors import BurstBufferError, IncompleteCheckpointError
from tfdarshan.checkpoint.fast_tier import entries_aside, new_id
from tfdarshan.checkpoint.hdf5 import is_whole_hdf5
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.checkpoint.state_file import CheckpointState, read_state

FILE_SUFFIXES = (".keras", ".h5")
# A file that has not changed for this long is complete if its format says so, too.
SETTLED_S = 1.0


@dataclass(frozen=True)
class Seen:
    """What tells a version of a file from the next: modification time, size and inode."""

    mtime_ns: int
    size_bytes: int
    inode: int

    @property
    def saved_at(self) -> float:
        """The modification time in seconds since the epoch."""
        return self.mtime_ns / 1e9


class Watch:
    """Looks for new checkpoints.

    A TensorFlow checkpoint is complete when the `checkpoint` state file names it. A Keras file is complete
    when it was seen unchanged for a second and its format is whole: the clock of the file times may be any.

    Args:
        pipeline: What takes them; its fast tier is the job's folder.
        clock: Gives seconds that never go back.
    """

    def __init__(self, pipeline: Pipeline, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._pipeline = pipeline
        self._folder = pipeline.fast.folder
        self._clock = clock
        self._taken: dict[str, Seen] = {}
        self._since_s: dict[str, tuple[Seen, float]] = {}  # files that were not taken, unchanged since when
        waiting = [(entry, pipeline.fast.path(entry)) for entry in pipeline.status().pending]
        for entry, folder in [*waiting, *entries_aside(self._folder)]:
            if entry.kind == "tensorflow":
                self._note_index(folder / (entry.name + INDEX))
            else:
                self._note_file(entry)
        # What the job saved last may be durable and not the latest there, if another fast tier has put one.
        for state in (pipeline.slow.state(), self._state()):
            if state is not None:
                self._note_index(pipeline.slow.folder / (state.latest + INDEX))
        self._found: dict[str, Seen] = {}  # what was there before, saved in whatever era
        for path in self._markers():
            with suppress(FileNotFoundError):
                self._found[path.name] = _seen(path)
        for path in self._files():
            with suppress(OSError):
                if (durable := pipeline.slow.published(path.name)) is not None:
                    self._note_file(durable.entry)

    @property
    def unsettled(self) -> list[str]:
        """The files that changed less than a second before they were last looked at, and were not taken."""
        now_s = self._clock()
        return sorted(name for name, (_, since_s) in self._since_s.items() if now_s - since_s < SETTLED_S)

    def take_new(self) -> list[str]:
        """Take over what is complete and was not taken before; return the names."""
        taken = []
        for bundle in self._complete():
            marker = self._folder / bundle.files[-1]
            try:
                seen = _seen(marker)
                if self._taken.get(marker.name) == seen or not self._pipeline.drain.admit():
                    continue
                # What the job may write again in place is copied: a second name would share the new bytes.
                copies = bundle.files if bundle.kind == "file" else bundle.files[-1:]
                unique, saved_at = new_id(), seen.saved_at
                self._pipeline.capture(
                    bundle,
                    unique=unique,
                    saved_at=saved_at,
                    copies=copies,
                    is_old=self._found.get(marker.name) == seen,
                )
                self._pipeline.ledger.record("saved", unique, checkpoint=bundle.name, saved_at=saved_at)
            except (FileNotFoundError, IncompleteCheckpointError):
                # The job removed it or writes it again: its next state is as good.
                continue
            self._taken[marker.name] = seen
            taken.append(bundle.name)
        return taken

    def _complete(self) -> list[Bundle]:
        bundles = []
        state = self._state()
        if state is not None and "/" not in state.latest:
            # Its files may be about to be followed by the next one's.
            with suppress(BurstBufferError, FileNotFoundError):
                bundles.append(_finished(find_bundle(self._folder / state.latest)))
        return bundles + [single_file(path) for path in self._whole_files()]

    def _state(self) -> CheckpointState | None:
        """Read the job's state file; None if there is none, or it is half written."""
        with suppress(BurstBufferError):
            return read_state(self._folder)
        return None

    def _markers(self) -> list[Path]:
        """List what makes a checkpoint visible: an index that the state file names, and single files."""
        state = self._state()
        index = [] if state is None else [self._folder / (state.latest + INDEX)]
        return [*index, *self._files()]

    def _files(self) -> list[Path]:
        return [
            path for path in self._folder.iterdir() if path.name.endswith(FILE_SUFFIXES) and path.is_file()
        ]

    def _whole_files(self) -> list[Path]:
        now_s, before, whole = self._clock(), self._since_s, []
        self._since_s = {}
        for path in self._files():
            with suppress(FileNotFoundError):
                seen = _seen(path)
                if self._taken.get(path.name) == seen:
                    continue
                known, since_s = before.get(path.name, (None, now_s))
                since_s = since_s if known == seen else now_s
                self._since_s[path.name] = seen, since_s
                if now_s - since_s >= SETTLED_S and _is_whole(path):
                    whole.append((seen.mtime_ns, path))
        return [path for _, path in sorted(whole)]

    def _note_index(self, other: Path) -> None:
        """Keep from taking a checkpoint of TensorFlow again that waits or is durable: the same index."""
        mine = self._folder / other.name
        with suppress(FileNotFoundError):
            if mine.read_bytes() == other.read_bytes():
                self._taken[mine.name] = _seen(mine)

    def _note_file(self, entry: Entry) -> None:
        """Keep from taking a file again that waits or is durable as it is."""
        with suppress(FileNotFoundError):
            seen = _seen(self._folder / entry.name)
            if (seen.saved_at, seen.size_bytes) == (entry.saved_at, entry.size_bytes):
                self._taken[entry.name] = seen


def _finished(bundle: Bundle) -> Bundle:
    """Refuse a checkpoint that is being written again under its name: TensorFlow writes the index last."""
    *shards, index = (bundle.folder / file for file in bundle.files)
    if any(shard.stat().st_mtime_ns > index.stat().st_mtime_ns for shard in shards):
        raise IncompleteCheckpointError(f"{index} is older than its data.")
    return bundle


def _seen(path: Path) -> Seen:
    status = path.stat()
    return Seen(status.st_mtime_ns, status.st_size, status.st_ino)


def _is_whole(path: Path) -> bool:
    return zipfile.is_zipfile(path) if path.suffix == ".keras" else is_whole_hdf5(path)
