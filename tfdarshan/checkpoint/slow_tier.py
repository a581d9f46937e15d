"""Makes checkpoints durable on the slow tier; at any instant its state file names a complete one."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from tfdarshan.checkpoint.bundle import checkpoint_files, other_name
from tfdarshan.checkpoint.burst_errors import DamagedCopyError, StaleCheckpointError, TierAwayError
from tfdarshan.checkpoint.copying import CopiedFile, Copier, Growing
from tfdarshan.checkpoint.fast_tier import IDENTITY
from tfdarshan.checkpoint.incoming import Arrival, Incoming
from tfdarshan.checkpoint.manifest import MANIFEST, Entry, Published, read_published
from tfdarshan.checkpoint.ownership import FolderLock
from tfdarshan.checkpoint.retention import Retention, next_state
from tfdarshan.checkpoint.state_file import STATE_NAME, CheckpointState, read_state
from tfdarshan.checkpoint.tier_file import is_plain, read_identity
from tfdarshan.durable.durable_file import replace_file
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL

INCOMING, MANIFESTS, RETIRING = "incoming", "manifests", "retiring"


@dataclass(frozen=True)
class Publication:
    """A checkpoint that is durable on the slow tier, and the seconds of copying and of verifying."""

    published: Published
    copy_s: float
    verify_s: float


class SlowTier:
    """A folder on slow, lasting storage, owned by one burst buffer.

    Args:
        folder: Where `tf.train.latest_checkpoint` looks.
        storage: The file operations.
        copier: Copies and verifies.
        retention: How many checkpoints stay.
        verify: Whether every copy is read back before it counts.
    """

    def __init__(
        self,
        folder: Path,
        *,
        storage: Storage,
        copier: Copier,
        retention: Retention,
        verify: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self.control = folder / BURST_CONTROL
        self._incoming = Incoming(
            self.control / INCOMING, storage=storage, copier=copier, verify=verify, clock=clock
        )
        self._manifests = self.control / MANIFESTS
        self._retiring = self.control / RETIRING
        self._storage = storage
        self._copier = copier
        self._retention = retention
        self._clock = clock
        self._lock = FolderLock(self.control / "lock")
        self._unfinished = True
        self.era = 0

    def open(self, expected_id: str | None, fast_id: str) -> str:
        """Take ownership, finish or remove what an earlier owner left, and return the tier's identity.

        Args:
            expected_id: The identity it must have; None takes any, and makes the folder if need be.
            fast_id: The fast tier's identity.

        Raises:
            TierAwayError: It is not the tier that is expected, as when it is not mounted.
            TierInUseError: Another burst buffer owns it.
            OSError: It cannot be read or written.
        """
        if expected_id is not None and tier_id(self.folder) != expected_id:
            raise TierAwayError(
                f"slow tier {self.folder} is not the folder that checkpoints went to before: check whether "
                "it is mounted."
            )
        # What is not there any more must not be made anew beside the real one, on another disk.
        new = expected_id is None
        for folder in (self._incoming.folder, self._manifests, self._retiring):
            self._storage.make_folder(folder, parents=new)
        self._sync_new_folders()
        self._lock.acquire()
        try:
            unique = self._begin_era(fast_id)
            self._recover()
        except BaseException:
            self._lock.release()
            raise
        return unique

    def close(self) -> None:
        """Give the folder up."""
        self._lock.release()

    def present(self) -> bool:
        """Return whether the folder that is owned is still there."""
        return self._lock.held()

    def follow(self, entry_id: str, growing: Growing, *, given_up: Event | None = None) -> None:
        """Copy a checkpoint's data file while it is being written, for `bring` and `publish` to use.

        Args:
            entry_id: The checkpoint.
            growing: The file.
            given_up: Set when the copy is of no use any more.

        Raises:
            TierAwayError: The slow tier is gone for now.
            SourceError: It cannot be read from the fast tier.
            OSError: The slow tier failed or is full.
        """
        self._take_up()
        with self._copier.ending_at(given_up):
            self._incoming.follow(entry_id, growing)

    def bring(self, entry: Entry, source: Callable[[], Path], *, given_up: Event | None = None) -> None:
        """Copy a checkpoint and verify the copy, for `publish` to use; nothing is visible before.

        Args:
            entry: The checkpoint, which need not be durable on the fast tier yet.
            source: Gives the folder with its files; it may be another one later.
            given_up: Set when the copy is of no use any more.

        Raises:
            TierAwayError: The slow tier is gone for now.
            StaleCheckpointError: Another fast tier has put a newer one there.
            SourceError: It cannot be read from the fast tier.
            OSError: The slow tier failed or is full.
        """
        self._take_up()
        with self._copier.ending_at(given_up):
            self._bring(entry, source)

    def discard(self, entry_id: str) -> None:
        """Remove what was copied of a checkpoint that is not to be published."""
        unfinished, self._unfinished = self._unfinished, True
        self._incoming.forget()
        # If that fails, or the tier is away, its next use tidies it up.
        with suppress(OSError):
            if self.present():
                self._storage.remove_folder(self._incoming.of(entry_id))
                self._unfinished = unfinished

    def publish(self, entry: Entry, source: Callable[[], Path]) -> Publication:
        """Make a checkpoint durable and the latest one.

        Once this returns, `tf.train.latest_checkpoint` names this checkpoint or a later one, whatever
        happens.

        Args:
            entry: The checkpoint.
            source: Gives the folder with its files.

        Raises:
            TierAwayError: The slow tier is gone for now.
            StaleCheckpointError: Another fast tier has put a newer one there.
            SourceError: It cannot be read from the fast tier.
            OSError: The slow tier failed or is full; nothing has changed there, and a later try may succeed.
        """
        self._take_up()
        self._unfinished = True
        publication = self._confirmed(entry)
        if publication is None:
            publication = self._publish(entry, self._incoming.arrival(entry.id) or self._bring(entry, source))
        else:
            self._unfinished = False
        self._incoming.forget()
        return publication

    def stale(self, entry: Entry) -> bool:
        """Return whether the slow tier holds a newer checkpoint that came from elsewhere."""
        state = read_state(self.folder)
        if entry.kind == "file":
            latest = self.published(entry.name)
            return _newer(latest, entry)
        if state is None:
            return False
        latest = self.published(state.latest)
        if latest is None:
            return dict(state.kept).get(state.latest, 0.0) > entry.saved_at
        return _newer(latest, entry)

    def state(self) -> CheckpointState | None:
        """Read the state file."""
        return read_state(self.folder)

    def published(self, name: str) -> Published | None:
        """Return the checkpoint that was published by a name; None where none is known."""
        return read_published(self._manifests / f"{name}.json")

    def _take_up(self) -> None:
        """See to it that the tier is there and tidy."""
        if not self.present():
            raise TierAwayError(f"slow tier {self.folder} is gone: mount it.")
        if self._unfinished:
            self._recover()

    def _publish(self, entry: Entry, arrival: Arrival) -> Publication:
        self._refuse_stale(entry)
        state, target = read_state(self.folder), arrival.target
        published = Published(entry=entry, target=target, copied=arrival.copied)
        arrived = self._incoming.of(entry.id)
        self._storage.write_json(arrived / MANIFEST, published.as_json())
        self._storage.sync_folder(arrived)
        self._storage.sync_folder(self._incoming.folder)
        for file in arrival.copied:
            self._storage.rename(arrived / file.name, self.folder / file.name)
        self._storage.sync_folder(self.folder)
        dropped: list[str] = []
        if entry.kind == "tensorflow":
            following, dropped = next_state(state, target, entry.saved_at, self._retention)
            # A name in another folder was put there by somebody else: it is forgotten, its files stay.
            dropped = [name for name in dropped if is_plain(name)]
            for name in dropped:
                self._storage.write_file(self._retiring / name, "")
            if dropped:
                self._storage.sync_folder(self._retiring)
            self._write_state(following)
        with suppress(OSError):
            # The checkpoint is durable: tidying up may wait until the next time.
            self._settle(published)
            for name in dropped:
                self._remove_checkpoint(name)
            self._unfinished = False
        return Publication(published, arrival.copy_s, arrival.verify_s)

    def _bring(self, entry: Entry, source: Callable[[], Path]) -> Arrival:
        self._refuse_stale(entry)
        target = entry.name
        if entry.kind == "tensorflow":
            target = self._free_name(entry.name, read_state(self.folder))
        return self._incoming.bring(entry, target, source)

    def _refuse_stale(self, entry: Entry) -> None:
        if self.stale(entry):
            raise StaleCheckpointError(
                f"{entry.name} is older than what another fast tier has put into {self.folder} since."
            )

    def _confirmed(self, entry: Entry) -> Publication | None:
        """Return what was published before, once it is certain to be durable; None if that cannot be said."""
        published = self._known(entry)
        if published is None:
            return None
        state = read_state(self.folder)
        if entry.kind == "tensorflow" and (state is None or state.latest != published.target):
            return Publication(published, 0.0, 0.0)
        started = self._clock()
        try:
            for file in published.copied:
                self._copier.verify(file, self.folder / file.name)
                self._storage.sync_file(self.folder / file.name)
        except (DamagedCopyError, FileNotFoundError):
            return None
        self._storage.sync_folder(self.folder)
        if entry.kind == "tensorflow" and state is not None:
            self._write_state(state)
        return Publication(published, 0.0, self._clock() - started)

    def _known(self, entry: Entry) -> Published | None:
        """Return what the entry was published as, if it was: under its name or one that gave way."""
        candidate, attempt = entry.name, 1
        while (published := self.published(candidate)) is not None:
            if published.entry.id == entry.id:
                return published
            attempt += 1
            candidate = other_name(entry.name, attempt)
        return None

    def _write_state(self, state: CheckpointState) -> None:
        replace_file(self._storage, self.folder / STATE_NAME, state.text(), scratch=self.control)

    def _free_name(self, name: str, state: CheckpointState | None) -> str:
        """Return the name, or one like it that no checkpoint has: two of them must never mix."""
        taken = state.names if state else frozenset()
        candidate, attempt = name, 1
        while candidate in taken or checkpoint_files(self.folder, candidate):
            attempt += 1
            candidate = other_name(name, attempt)
        return candidate

    def _recover(self) -> None:
        """Finish what became visible and remove what did not."""
        self._incoming.forget()
        state = read_state(self.folder)
        named = state.names if state else frozenset()
        for arriving in self._incoming.folder.iterdir():
            published = read_published(arriving / MANIFEST)
            if published is not None and self._is_visible(published, arriving, named):
                self._settle(published)
            else:
                self._withdraw(published, arriving)
        # The state file that was just read may not be durable, where its writer failed.
        self._storage.sync_folder(self.folder)
        for intent in self._retiring.iterdir():
            if intent.name in named:
                self._storage.remove(intent)
            else:
                self._remove_checkpoint(intent.name)
        self._unfinished = False

    @staticmethod
    def _is_visible(published: Published, arriving: Path, named: frozenset[str]) -> bool:
        if published.entry.kind == "tensorflow":
            return published.target in named
        return not (arriving / published.copied[-1].name).exists()

    def _settle(self, published: Published) -> None:
        arriving = self._incoming.of(published.entry.id)
        self._storage.rename(arriving / MANIFEST, self._manifests / f"{published.target}.json")
        self._storage.remove_folder(arriving)

    def _withdraw(self, published: Published | None, arriving: Path) -> None:
        """Take back the files of a checkpoint that the state does not name, then its incoming folder."""
        if published is not None and published.entry.kind == "tensorflow":
            for file in reversed(published.copied):
                if not (arriving / file.name).exists():
                    self._storage.remove(self.folder / file.name)
            self._storage.sync_folder(self.folder)
        self._storage.remove_folder(arriving)

    def _remove_checkpoint(self, name: str) -> None:
        """Remove a checkpoint that the state no longer names, its index first: it is never half there."""
        index, *shards = checkpoint_files(self.folder, name) or [f"{name}.index"]
        self._storage.remove(self.folder / index)
        self._storage.sync_folder(self.folder)
        for shard in shards:
            self._storage.remove(self.folder / shard)
        self._storage.sync_folder(self.folder)
        self._storage.remove(self._manifests / f"{name}.json")
        self._storage.remove(self._retiring / name)

    def _sync_new_folders(self) -> None:
        """A new folder is lost in a power cut, with all that is in it, unless its parent is synced."""
        self._storage.sync_folder(self.control)
        self._storage.sync_folder(self.folder)
        with suppress(PermissionError):
            self._storage.sync_folder(self.folder.parent)

    def _begin_era(self, fast_id: str) -> str:
        """Begin an era if another fast tier was the last owner; return the tier's identity."""
        known = read_identity(self.control / IDENTITY)
        unique, self.era = known.id or uuid.uuid4().hex[:16], known.era
        if not known.id or known.owner != fast_id:
            self.era += 1
            text = json.dumps({"id": unique, "era": self.era, "owner": fast_id}) + "\n"
            replace_file(self._storage, self.control / IDENTITY, text, scratch=self.control)
            self._storage.sync_folder(self.folder)
        return unique


def tier_id(folder: Path) -> str:
    """Return a slow tier's identity, "" where it has none.

    Raises:
        BurstBufferError: It is damaged.
        OSError: It cannot be read.
    """
    return read_identity(folder / BURST_CONTROL / IDENTITY).id


def damaged_files(folder: Path, copier: Copier) -> dict[str, str]:
    """Read all checkpoints of a slow tier back, and say what is wrong with those that changed since.

    Returns:
        A sentence for each checkpoint that is not what was written, by its name.
    """
    problems = {}
    for path in sorted((folder / BURST_CONTROL / MANIFESTS).glob("*.json")):
        published = read_published(path)
        for file in published.copied if published else ():
            problem = _problem(file, folder / file.name, copier)
            # One that is retired meanwhile is not damaged.
            if published and problem and path.exists():
                problems[published.target] = problem
    return problems


def _problem(file: CopiedFile, path: Path, copier: Copier) -> str:
    try:
        copier.verify(file, path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def _newer(latest: Published | None, entry: Entry) -> bool:
    if latest is None or latest.entry.fast_id == entry.fast_id:
        return False
    if latest.entry.era is not None and entry.era is not None:
        return latest.entry.era > entry.era
    return latest.entry.saved_at > entry.saved_at
