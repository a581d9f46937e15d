"""Takes over the checkpoints of a job that knows nothing of it, from the folder that the job writes to."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.checkpoint.bundle import INDEX, Bundle, find_bundle, single_file
from tfdarshan.checkpoint.burst_errors import BurstBufferError, IncompleteCheckpointError
from tfdarshan.checkpoint.fast_tier import new_id
from tfdarshan.checkpoint.hdf5 import is_whole_hdf5
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.checkpoint.state_file import read_state

FILE_SUFFIXES = (".keras", ".h5")
# A file that has not changed for this long is complete if its format says so, too.
SETTLED_S = 1.0


@dataclass(frozen=True)
class Seen:
    """What tells a version of a file from the next: modification time, size and inode."""

    mtime_ns: int
    size_bytes: int
    inode: int


class Watch:
    """Looks for new checkpoints.

    A TensorFlow checkpoint is complete when the `checkpoint` state file names it. A Keras file is complete
    when it has not changed for a second and its format is whole.

    Args:
        pipeline: What takes them; its fast tier is the job's folder.
        clock: Gives seconds since the epoch.
    """

    def __init__(self, pipeline: Pipeline, *, clock: Callable[[], float] = time.time) -> None:
        self._pipeline = pipeline
        self._folder = pipeline.fast.folder
        self._clock = clock
        self._taken: dict[str, Seen] = {}
        for entry in pipeline.status().pending:
            self._note_pending(entry.name + INDEX if entry.kind == "tensorflow" else entry.name)
        durable = pipeline.slow.state()
        if durable is not None:
            self._note_durable(durable.latest)

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
                unique, saved_at = new_id(), seen.mtime_ns / 1e9
                self._pipeline.capture(bundle, unique=unique, saved_at=saved_at, copies=copies)
                self._pipeline.ledger.record("saved", unique, checkpoint=bundle.name, saved_at=saved_at)
            except (FileNotFoundError, IncompleteCheckpointError):
                # The job removed it or writes it again: its next state is as good.
                continue
            self._taken[marker.name] = seen
            taken.append(bundle.name)
        return taken

    def _complete(self) -> list[Bundle]:
        bundles = []
        try:
            state = read_state(self._folder)
            if state is not None and "/" not in state.latest:
                bundles.append(_finished(find_bundle(self._folder / state.latest)))
        except (BurstBufferError, FileNotFoundError):
            # Half written, by a job that does not replace it at once, or about to be followed by the next.
            pass
        return bundles + [single_file(path) for path in self._whole_files()]

    def _whole_files(self) -> list[Path]:
        paths = []
        for path in self._folder.iterdir():
            if path.name.endswith(FILE_SUFFIXES) and path.is_file():
                settled = self._clock() - path.stat().st_mtime >= SETTLED_S
                if settled and self._taken.get(path.name) != _seen(path) and _is_whole(path):
                    paths.append(path)
        return sorted(paths, key=lambda path: path.stat().st_mtime_ns)

    def _note_pending(self, marker: str) -> None:
        path = self._folder / marker
        if path.exists():
            self._taken[marker] = _seen(path)

    def _note_durable(self, name: str) -> None:
        """Keep from taking again what an earlier watch made durable: the same index, byte for byte."""
        mine, durable = self._folder / (name + INDEX), self._pipeline.slow.folder / (name + INDEX)
        if mine.exists() and durable.exists() and mine.read_bytes() == durable.read_bytes():
            self._taken[mine.name] = _seen(mine)


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
