"""Carries out a plan: copies what is missing, in batches that a crash cannot leave half done."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.errors import reason
from tfdarshan.staging.capacity import existing_parent
from tfdarshan.staging.copy_file import Copied, CopyError, copy_file, look_at
from tfdarshan.staging.journal import FILE, Record
from tfdarshan.staging.mirror import mirror_links
from tfdarshan.staging.plan_file import Plan, PlannedFile
from tfdarshan.staging.publish import (
    TAKEN,
    TAKEN_BY_ANOTHER,
    Applied,
    FolderMaker,
    publish,
    sync_folders,
)
from tfdarshan.staging.stage_folder import StageFolder, locked_stage, refuse_unmounted
from tfdarshan.units import human_bytes

BATCH_FILES = 64
BATCH_BYTES = 256 << 20
# Bytes of a block of `st_blocks`. Source: stat(2).
STAT_BLOCK_BYTES = 512
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MAKE_ROOM = "remove other files there and run this command again"
MOUNT = "mount its file system and run this command again"
INTERRUPTED = "was not copied: the command was interrupted"


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """How to copy: threads, bandwidth limit, links for all other files, originals as they are now."""

    threads: int = 4
    bytes_per_s: float | None = None
    mirror: bool = False
    refresh: bool = False
    dry_run: bool = False


def apply_plan(
    plan: Plan, options: ApplyOptions, progress: Callable[[int, int], None] = lambda done, total: None
) -> Applied:
    """Copy the plan's files, those that are not there yet.

    Originals are only read. A copy gets its name when it is whole, compared and durable, and is in the
    journal before: whatever ends this, no name shows part of a file, and the next run finishes the work. A
    dry run decides as any other, and makes nothing.

    Args:
        plan: The plan.
        options: How to copy.
        progress: Called as `progress(bytes_copied, bytes_to_copy)`.

    Raises:
        ConfigurationError: Another run is at work there.
        StorageError: The fast root cannot be used.
    """
    refuse_unmounted(plan)
    if options.dry_run:
        return _Run(plan, options, StageFolder(Path(plan.fast_root)), progress).run()
    with locked_stage(plan, create=True) as stage:
        assert stage is not None
        return _Run(plan, options, stage, progress).run()


def _as_planned(record: Record, file: PlannedFile) -> bool:
    return (record.size, record.source_mtime_ns) == (file.size, file.mtime_ns)


class _Run:
    """One run: under the lock, unless it is a dry one."""

    def __init__(
        self, plan: Plan, options: ApplyOptions, stage: StageFolder, progress: Callable[[int, int], None]
    ) -> None:
        self._plan, self._options, self._stage = plan, options, stage
        self._progress = progress
        self._folders = FolderMaker(stage, plan.id)
        self._limit = BandwidthLimit(options.bytes_per_s)
        self._result = Applied()
        self._lock = threading.Lock()
        self._interrupted = threading.Event()
        self._done_bytes = self._total_bytes = 0
        self._replaced: set[str] = set()
        self._adopted: list[Record] = []
        # What a dry run would have made by now, and the room that this would have taken.
        self._pretended: set[str] = set()
        self._pretended_bytes = 0

    def run(self) -> Applied:
        todo = [self._wanted(file) for file in self._plan.files if self._is_to_copy(file)]
        self._total_bytes = sum(file.size for file in todo)
        self._adopt()
        with ThreadPoolExecutor(self._options.threads) as pool, self._ending_copies():
            for number, batch in enumerate(_batches(todo)):
                if self._result.stopped or not self._has_room(batch):
                    break
                self._copy_batch(pool, batch, number)
        if self._options.mirror and not self._result.stopped:
            pretended = self._pretended if self._options.dry_run else None
            try:
                mirror_links(self._plan, self._stage, self._folders, self._result, pretended)
            except OSError as error:
                self._result.stopped = f"the mirror is not complete: {error.filename}: {reason(error)}"
        return self._result

    @contextmanager
    def _ending_copies(self) -> Iterator[None]:
        """Have copies under way end at once where Ctrl-C ends the block: a large one takes hours."""
        try:
            yield
        except BaseException:
            self._interrupted.set()
            raise

    def _adopt(self) -> None:
        """Record the copies of other plans that this one uses, too."""
        if self._options.dry_run:
            return
        try:
            self._stage.journal.add(self._adopted)
        except OSError as error:
            self._result.stopped = f"{self._stage.root} cannot be written: {reason(error)}"

    def _is_to_copy(self, file: PlannedFile) -> bool:
        path = self._stage.path(file.name)
        if not os.path.lexists(path):
            return True
        owner = self._stage.journal.owner_of(file.name, path)
        if owner is None or not owner.stands_for(self._plan.original(file.name)):
            self._fail(file.name, TAKEN if owner is None else TAKEN_BY_ANOTHER)
            return False
        if owner.kind == FILE and self._is_good(owner, file):
            self._result.there += 1
            if owner.plan != self._plan.id:
                self._adopted += self._stage.journal.adopted(file.name, path, self._plan.id)
            return False
        self._replaced.add(file.name)
        return True

    def _is_good(self, copy: Record, file: PlannedFile) -> bool:
        """Return whether a copy is of the original as planned or, as --refresh leaves it, as it is now."""
        planned = not self._options.refresh and _as_planned(copy, file)
        return planned or _as_planned(copy, self._present(file))

    def _wanted(self, file: PlannedFile) -> PlannedFile:
        return self._present(file) if self._options.refresh else file

    def _present(self, file: PlannedFile) -> PlannedFile:
        """Return the file as it is now, as planned if it is gone."""
        try:
            found = os.stat(self._plan.original(file.name))  # noqa: PTH116
        except OSError:
            return file
        return PlannedFile(file.name, found.st_size, found.st_mtime_ns)

    def _has_room(self, batch: Sequence[PlannedFile]) -> bool:
        found = os.statvfs(existing_parent(self._plan.fast_root))
        block = found.f_frsize
        needed = sum(-(-file.size // block) * block for file in batch)
        free = found.f_bavail * block - self._pretended_bytes
        if free - needed >= self._plan.reserve_bytes:
            return True
        self._result.stopped = (
            f"{self._stage.root} has {human_bytes(free)} free, of which "
            f"{human_bytes(self._plan.reserve_bytes)} must stay free, and the next files take "
            f"{human_bytes(needed)}: {MAKE_ROOM}"
        )
        return False

    def _copy_batch(self, pool: ThreadPoolExecutor, batch: Sequence[PlannedFile], number: int) -> None:
        records, refused = self._folders.missing([file.name for file in batch])
        for name, why in refused.items():
            self._fail(name, why)
        batch = [file for file in batch if file.name not in refused]
        places = [str(self._stage.temporary / f"{number}-{index}") for index in range(len(batch))]
        copied = [
            (file, copy)
            for file, copy in zip(batch, pool.map(self._copy, batch, places), strict=True)
            if copy is not None
        ]
        if self._options.dry_run:
            self._pretend(copied)
            return
        try:
            if copied:
                self._give_names(records, copied)
        except OSError as error:
            if not self._result.stopped:
                self._result.stopped = f"{self._stage.root} cannot be written: {reason(error)}"
        for place in places:
            if os.path.lexists(place):
                os.unlink(place)  # noqa: PTH108

    def _give_names(self, records: Sequence[Record], copied: Sequence[tuple[PlannedFile, Copied]]) -> None:
        """Make the folders of whole copies, and give the copies their names; the journal has both first."""
        self._stage.journal.add([*records, *(self._record(file, copy) for file, copy in copied)])
        touched = self._folders.make(records)
        for file, copy in copied:
            if self._publish(file, copy):
                touched.add(os.path.dirname(file.name))  # noqa: PTH120
        sync_folders(self._stage, touched)

    def _pretend(self, copied: Sequence[tuple[PlannedFile, Copied]]) -> None:
        """Count copies as if they had been made, in place of those that they would replace."""
        block = os.statvfs(existing_parent(self._plan.fast_root)).f_frsize
        for file, copy in copied:
            self._count(copy)
            self._pretended.add(file.name)
            self._pretended_bytes += -(-copy.size // block) * block
            if file.name in self._replaced:
                self._pretended_bytes -= os.lstat(self._stage.path(file.name)).st_blocks * STAT_BLOCK_BYTES

    def _copy(self, file: PlannedFile, place: str) -> Copied | None:
        """Copy one file in a thread of the pool, or look at it in a dry run; None if that failed."""
        if self._result.stopped:
            return None
        planned = None if self._options.refresh else file
        source = self._plan.original(file.name)
        try:
            if self._options.dry_run:
                return look_at(source, planned)
            return copy_file(
                source, place, planned, self._plan.checksum, self._limit, self._moved, check=self._check
            )
        except CopyError as error:
            self._fail(file.name, str(error))
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            if is_missing and error.filename == source:
                self._fail(file.name, "is not there any more")
                return None
            self._fail(file.name, f"cannot be copied: {reason(error)}")
            if error.errno in FULL:
                self._result.stopped = f"{self._stage.root} is full: {MAKE_ROOM}"
            elif is_missing:
                self._result.stopped = f"{self._stage.root} is not there any more: {MOUNT}"
        return None

    def _publish(self, file: PlannedFile, copy: Copied) -> bool:
        # A copy that was ours when the run began may be somebody's work by now.
        path = self._stage.path(file.name)
        is_ours = self._stage.journal.owner_of(file.name, path) is not None
        try:
            publish(copy.path, path, replace=is_ours)
        except CopyError as error:
            changed = "its older copy was changed meanwhile: left as it is"
            self._fail(file.name, changed if file.name in self._replaced else str(error))
            return False
        self._count(copy)
        return True

    def _count(self, copy: Copied) -> None:
        self._result.copied += 1
        self._result.copied_bytes += copy.size

    def _record(self, file: PlannedFile, copy: Copied) -> Record:
        return Record(
            FILE,
            file.name,
            self._plan.id,
            copy.inode,
            copy.size,
            copy.mtime_ns,
            copy.source_mtime_ns,
            copy.checksum,
            self._plan.checksum,
            self._plan.original(file.name),
        )

    def _check(self) -> None:
        """End a copy that is under way when the command is interrupted."""
        if self._interrupted.is_set():
            raise CopyError(INTERRUPTED)

    def _moved(self, count: int) -> None:
        with self._lock:
            self._done_bytes += count
            self._progress(min(self._done_bytes, self._total_bytes), self._total_bytes)

    def _fail(self, name: str, why: str) -> None:
        with self._lock:
            self._result.problems[name] = why


def _batches(files: Sequence[PlannedFile]) -> Iterator[list[PlannedFile]]:
    """Yield batches of so many files, or fewer where they are large."""
    batch: list[PlannedFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
