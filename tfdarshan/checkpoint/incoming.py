"""Copies that arrive on the slow tier: durable, verified, and not visible before they are published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tfdarshan.checkpoint.bundle import renamed_file
from tfdarshan.checkpoint.copying import CopiedFile, Copier, Growing
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.durable.file_operations import Storage

# A copy of a file that was still being written, in its checkpoint's folder.
AHEAD = "ahead"


@dataclass(frozen=True)
class Arrival:
    """A checkpoint whose copies are durable and verified.

    Attributes:
        id: The entry's.
        target: The name it is to have.
        copied: Its files.
        copy_s: Seconds of copying, with syncing, also while it was still written.
        verify_s: Seconds of verifying.
    """

    id: str
    target: str
    copied: tuple[CopiedFile, ...]
    copy_s: float
    verify_s: float


@dataclass(frozen=True)
class _Followed:
    """A file of a checkpoint that was copied while it was written, and the seconds of that."""

    id: str
    copied: CopiedFile
    copy_s: float


class Incoming:
    """The folder of what arrives, a folder for each checkpoint; remembers what was copied ahead, of one.

    Args:
        folder: The folder.
        storage: The file operations.
        copier: Copies and verifies.
        verify: Whether every copy is read back.
        clock: Gives seconds that never go back.
    """

    def __init__(
        self, folder: Path, *, storage: Storage, copier: Copier, verify: bool, clock: Callable[[], float]
    ) -> None:
        self.folder = folder
        self._storage = storage
        self._copier = copier
        self._verify = verify
        self._clock = clock
        self._followed: _Followed | None = None
        self._arrival: Arrival | None = None

    def of(self, entry_id: str) -> Path:
        """Return the folder of one checkpoint."""
        return self.folder / entry_id

    def follow(self, entry_id: str, growing: Growing) -> None:
        """Copy a checkpoint's data file while it is written, for `bring` to use."""
        arriving, started = self._empty(entry_id), self._clock()
        with self._removed_on_error(arriving):
            copied = self._copier.follow(growing, arriving / AHEAD)
        if copied is not None:
            self._followed = _Followed(entry_id, copied, self._clock() - started)

    def bring(self, entry: Entry, target: str, source: Callable[[], Path]) -> Arrival:
        """Copy all files of a checkpoint under their names to be, and verify them.

        Args:
            entry: The checkpoint.
            target: The name it is to have.
            source: Gives the folder with its files; it may be another one later.
        """
        followed, self._followed = self._followed, None
        if followed is None or followed.id != entry.id:
            followed = None
            self._empty(entry.id)
        arriving, started = self.of(entry.id), self._clock()
        with self._removed_on_error(arriving):
            copied = self._copied(entry, target, source, followed)
            at_copied = self._clock()
            if self._verify:
                for file in copied:
                    self._copier.verify(file, arriving / file.name)
        copy_s = at_copied - started + (followed.copy_s if followed else 0.0)
        self._arrival = Arrival(entry.id, target, copied, copy_s, self._clock() - at_copied)
        return self._arrival

    def arrival(self, entry_id: str) -> Arrival | None:
        """Return what was brought of a checkpoint; None where that is nothing."""
        return self._arrival if self._arrival is not None and self._arrival.id == entry_id else None

    def forget(self) -> None:
        """Forget what was copied ahead: it is published, or its folder was removed."""
        self._followed = self._arrival = None

    def _copied(
        self, entry: Entry, target: str, source: Callable[[], Path], followed: _Followed | None
    ) -> tuple[CopiedFile, ...]:
        """Copy an entry's files, but for one that was followed and is as it was read then."""
        arriving, ahead = self.of(entry.id), followed.copied if followed else None
        copied = []
        for file in entry.files:
            arrived = arriving / renamed_file(file, entry.name, target)
            if ahead is not None and self._copier.holds(source() / file, ahead):
                self._storage.rename(arriving / AHEAD, arrived)
                copied.append(replace(ahead, name=arrived.name))
                ahead = None
            else:
                copied.append(self._copier.copy(source() / file, arrived))
        if ahead is not None:
            self._storage.remove(arriving / AHEAD)
        return tuple(copied)

    def _empty(self, entry_id: str) -> Path:
        arriving = self.of(entry_id)
        self._storage.remove_folder(arriving)
        self._storage.make_folder(arriving)
        return arriving

    @contextmanager
    def _removed_on_error(self, folder: Path) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with suppress(OSError):
                self._storage.remove_folder(folder)
            raise
