"""The queue on the fast tier: checkpoints that are complete and durable there and wait for the slow tier."""

from __future__ import annotations

import errno
import json
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tfdarshan.checkpoint.bundle import Bundle
from tfdarshan.checkpoint.burst_errors import BurstBufferError, IncompleteCheckpointError
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.manifest import MANIFEST, Entry, entry_json, read_entry
from tfdarshan.checkpoint.ownership import FolderLock
from tfdarshan.checkpoint.tier_file import damaged, read_identity, read_tier_json, shaped
from tfdarshan.durable.durable_file import replace_file
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL

QUEUE = "queue"
IDENTITY = "tier.json"
PAIRING = "slow.json"
PARTIAL, DONE, ASIDE = ".partial", ".done", ".aside"

Announce = Callable[[Entry], None]
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@dataclass(frozen=True)
class Pairing:
    """The slow tier that a fast tier drains to: its folder and its identity."""

    folder: str
    id: str


class FastTier:
    """A folder on fast storage, owned by one burst buffer.

    A checkpoint is in the queue when `queue/<order>-<id>/` exists under exactly that name. Everything in it
    was synced before it got the name, so that it is whole whenever it is seen.

    Args:
        folder: Where checkpoints are written first.
        storage: The file operations.
        clock: Gives seconds since the epoch.
    """

    def __init__(self, folder: Path, *, storage: Storage, clock: Callable[[], float]) -> None:
        self.folder = folder
        self.control = folder / BURST_CONTROL
        self.id = ""
        self.era: int | None = None  # of the slow tier, once that was opened
        self._queue = self.control / QUEUE
        self._storage = storage
        self._clock = clock
        self._lock = FolderLock(self.control / "lock")
        self._next_order = 1

    def open(self) -> list[Entry]:
        """Take ownership, remove what an earlier owner did not finish, and return what still waits.

        Raises:
            TierInUseError: Another burst buffer owns the folder.
            OSError: The folder cannot be written.
        """
        self._storage.make_folder(self._queue, parents=True)
        self._lock.acquire()
        try:
            self.id = self._identity()
            for folder in self._queue.iterdir():
                if folder.suffix in (PARTIAL, DONE):
                    self._storage.remove_folder(folder)
            waiting = pending_entries(self.folder)
        except BaseException:
            self._lock.release()
            raise
        self._next_order = max((entry.order for entry in waiting), default=0) + 1
        return waiting

    def close(self) -> None:
        """Give the folder up."""
        self._lock.release()

    def seal(
        self,
        bundle: Bundle,
        *,
        saved_at: float,
        unique: str | None = None,
        step: int | None = None,
        era: int | None = None,
        copies: Collection[str] = (),
        copier: Copier | None = None,
        announce: Announce = lambda entry: None,
    ) -> Entry:
        """Put a complete checkpoint into the queue, durably; from then on its own files may be removed.

        Args:
            bundle: The checkpoint, on the fast tier's file system.
            saved_at: When its saving began, in seconds since the epoch.
            unique: The entry's id; None makes one.
            step: The training step.
            era: The slow tier's when it was saved, None where that is not known.
            copies: Files to copy with `copier`; all others get a second name, which costs nothing but must
                not be written to any more.
            copier: What copies them.
            announce: Called with the entry when `source` has all its files, of which nothing is durable yet.

        Raises:
            IncompleteCheckpointError: A file vanished or changed meanwhile.
            OSError: The fast tier failed or is full.
        """
        storage, order, unique = self._storage, self._next_order, unique or new_id()
        self._next_order += 1
        final = self._queue / f"{order:08}-{unique}"
        partial = final.with_name(final.name + PARTIAL)
        storage.make_folder(partial)
        try:
            before = _signatures(bundle)
            for file in bundle.files:
                _pin(storage, bundle.folder / file, partial / file, copier if file in copies else None)
            entry = Entry(
                id=unique,
                order=order,
                name=bundle.name,
                kind=bundle.kind,
                files=bundle.files,
                size_bytes=sum((partial / file).stat().st_size for file in bundle.files),
                saved_at=saved_at,
                fast_durable_at=None,
                fast_id=self.id,
                step=step,
                era=era,
            )
            announce(entry)
            for file in bundle.files:
                storage.sync_file(partial / file)
            if copies and _signatures(bundle) != before:
                raise IncompleteCheckpointError(
                    f"{bundle.folder / bundle.name} was written to while it was taken over."
                )
            entry = replace(entry, fast_durable_at=self._clock())
            storage.write_json(partial / MANIFEST, entry_json(entry))
            storage.sync_folder(partial)
            storage.rename(partial, final)
            storage.sync_folder(self._queue)
        except BaseException:
            for folder in (final, partial):
                with suppress(OSError):
                    storage.remove_folder(folder)
            raise
        return entry

    def path(self, entry: Entry) -> Path:
        """Return the folder that holds an entry's files."""
        return self._queue / f"{entry.order:08}-{entry.id}"

    def source(self, entry: Entry) -> Path:
        """Return the folder that holds an entry's files now, also before it is in the queue."""
        final = self.path(entry)
        return final if final.exists() else final.with_name(final.name + PARTIAL)

    def remove(self, entry: Entry) -> None:
        """Take an entry out of the queue, durably: it does not come back, whatever happens next."""
        self._leave(entry, DONE)
        self._storage.remove_folder(self.path(entry).with_name(self.path(entry).name + DONE))

    def set_aside(self, entry: Entry) -> Path:
        """Take an entry out of the queue and keep its files; return their folder."""
        return self._leave(entry, ASIDE)

    def paired(self) -> Pairing | None:
        """Return the slow tier that this one drains to, None before the first time."""
        return read_pairing(self.folder)

    def pair(self, pairing: Pairing) -> None:
        """Remember the slow tier."""
        text = json.dumps({"folder": pairing.folder, "id": pairing.id}) + "\n"
        replace_file(self._storage, self.control / PAIRING, text, scratch=self.control)

    def _leave(self, entry: Entry, suffix: str) -> Path:
        folder = self.path(entry)
        gone = folder.with_name(folder.name + suffix)
        if folder.exists():
            self._storage.rename(folder, gone)
        self._storage.sync_folder(self._queue)
        return gone

    def _identity(self) -> str:
        known = read_identity(self.control / IDENTITY).id
        if known:
            return known
        fresh = new_id()
        text = json.dumps({"id": fresh}) + "\n"
        replace_file(self._storage, self.control / IDENTITY, text, scratch=self.control)
        return fresh


def new_id() -> str:
    """Make an identity that nothing else has."""
    return uuid.uuid4().hex[:16]


def pending_entries(folder: Path) -> list[Entry]:
    """List what waits in a fast tier's queue, oldest first, without owning it.

    Raises:
        BurstBufferError: A manifest is damaged or of a newer version.
        OSError: It cannot be read.
    """
    return sorted((entry for entry, _ in _queued(folder, "")), key=lambda entry: entry.order)


def entries_aside(folder: Path) -> list[tuple[Entry, Path]]:
    """List what was set aside of a fast tier's queue, each with the folder of its files.

    Raises:
        BurstBufferError: A manifest is damaged or of a newer version.
        OSError: It cannot be read.
    """
    return _queued(folder, ASIDE)


def _queued(folder: Path, suffix: str) -> list[tuple[Entry, Path]]:
    queue = folder / BURST_CONTROL / QUEUE
    try:
        paths = [path for path in queue.iterdir() if path.suffix == suffix]
    except FileNotFoundError:
        return []
    return [(entry, path) for path in paths if (entry := read_entry(path / MANIFEST)) is not None]


def read_pairing(folder: Path) -> Pairing | None:
    """Return the slow tier that a fast tier drains to, without owning it.

    Raises:
        BurstBufferError: What says so is damaged.
        OSError: It cannot be read.
    """
    from tfdarshan.checkpoint.tier_shape import PairingShape

    path = folder / BURST_CONTROL / PAIRING
    data = read_tier_json(path)
    if data is None:
        return None
    shape = shaped(path, data, PairingShape)
    if "\0" in shape.folder:
        raise damaged(path, f"{shape.folder!r} is not a folder")
    return Pairing(shape.folder, shape.id) if shape.folder and shape.id else None


def _pin(storage: Storage, source: Path, target: Path, copier: Copier | None) -> None:
    if copier is not None:
        copier.copy(source, target)
        return
    try:
        storage.link(source, target)
    except FileNotFoundError as error:
        raise IncompleteCheckpointError(f"{source} was removed before it was taken over.") from error
    except OSError as error:
        if error.errno in NO_LINKS:
            raise BurstBufferError(
                f"{target.parent} cannot hold a hard link: {error.strerror}; "
                "the fast tier must be a file system with hard links."
            ) from error
        raise


def _signatures(bundle: Bundle) -> list[tuple[int, int, int]]:
    """Return what tells a version of each file from the next."""
    try:
        found = [(bundle.folder / file).stat() for file in bundle.files]
    except FileNotFoundError as error:
        raise IncompleteCheckpointError(f"{error.filename} was removed before it was taken over.") from error
    return [(status.st_mtime_ns, status.st_size, status.st_ino) for status in found]
