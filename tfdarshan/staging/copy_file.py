"""Copies one file under a temporary name: whole, durable and compared, or not at all."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import Storage
from tfdarshan.durable.verified_copy import Contents, VerifiedCopy, copy_buffer
from tfdarshan.staging.checksum import new_checksum
from tfdarshan.staging.plan_file import PlannedFile

BUFFER_BYTES = 1 << 20
NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW
_of_thread = threading.local()


class CopyError(Exception):
    """A file that was not copied, and why in a few words."""


@dataclass(frozen=True)
class Copied:
    """A copy under its temporary name."""

    path: str
    inode: int
    size: int
    mtime_ns: int
    source_mtime_ns: int
    checksum: str


def copy_file(
    source: str,
    target: str,
    planned: PlannedFile | None,
    policy: str,
    limit: BandwidthLimit,
    moved: Callable[[int], None] = lambda _count: None,
    storage: Storage | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Copied:
    """Copy `source` to `target`, which must not exist, with its permissions and time of change.

    The original is opened for reading only, and looked at before and after: one that changed meanwhile is no
    copy. What arrived is read again and compared.

    Args:
        source: The original; a symbolic link is followed.
        target: The temporary name.
        planned: What the plan says of it, None to take it as it is.
        policy: How the copy is compared, one of `checksum.POLICIES`.
        limit: Limits what is read of it.
        moved: Is told of every block's bytes.
        storage: The file operations.
        check: Called between blocks; what it raises ends the copy.

    Raises:
        CopyError: The original is not as planned, changed, or the copy differs from it.
        OSError: A read or write failed.
    """
    copier = _copier(policy, limit, storage or Storage(), moved, check)
    with copier.storage.opened(source, os.O_RDONLY | os.O_NONBLOCK) as reading:
        before = os.fstat(reading)
        _refuse_unplanned(before, planned)
        with copier.storage.opened(target, NEW_FILE, 0o600) as writing:
            copied = copier.transfer(partial(copier.storage.read, reading, path=source), writing, target)
            os.fchmod(writing, stat.S_IMODE(before.st_mode) & 0o777)
            os.utime(writing, ns=(before.st_atime_ns, before.st_mtime_ns))
            copier.storage.sync(writing, target)
            _refuse_changed(reading, source, before, copied)
            made = os.fstat(writing)
            whole = policy == "size" or copier.read_back(writing, target) == copied
            if not whole or made.st_size != copied.size_bytes:
                raise CopyError("its copy differs from it: the fast tier did not keep what was written")
    return Copied(target, made.st_ino, made.st_size, made.st_mtime_ns, before.st_mtime_ns, copied.digest)


def look_at(source: str, planned: PlannedFile | None) -> Copied:
    """Return what a copy of `source` would be; it has no path, inode and checksum.

    Raises:
        CopyError: The original is not as planned.
        OSError: It cannot be opened.
    """
    with Storage().opened(source, os.O_RDONLY | os.O_NONBLOCK) as reading:
        found = os.fstat(reading)
    _refuse_unplanned(found, planned)
    return Copied("", 0, found.st_size, found.st_mtime_ns, found.st_mtime_ns, "")


def checksum_of(path: str, policy: str) -> str:
    """Return a file's checksum, "" for the policy that takes none.

    Raises:
        OSError: It cannot be read.
    """
    if policy == "size":
        return ""
    copier = _copier(policy, BandwidthLimit(None), Storage(), lambda _count: None)
    with copier.storage.opened(path, os.O_RDONLY | os.O_NOFOLLOW) as handle:
        return copier.contents(handle, path).digest


def _copier(
    policy: str,
    limit: BandwidthLimit,
    storage: Storage,
    moved: Callable[[int], None],
    check: Callable[[], None] = lambda: None,
) -> VerifiedCopy:
    """Return what copies bytes in this thread: through one buffer, however many files there are."""
    if not hasattr(_of_thread, "buffer"):
        _of_thread.buffer = copy_buffer(BUFFER_BYTES)
    return VerifiedCopy(
        storage=storage,
        new_digest=partial(new_checksum, policy),
        buffer=_of_thread.buffer,
        limit=limit,
        past_page_cache=False,
        check=lambda _path: check(),
        moved=moved,
    )


def _refuse_unplanned(found: os.stat_result, planned: PlannedFile | None) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise CopyError("is not a regular file any more")
    if planned is not None and (found.st_size, found.st_mtime_ns) != (planned.size, planned.mtime_ns):
        raise CopyError("has changed since the plan was made; --refresh takes it as it is now")


def _refuse_changed(reading: int, source: str, before: os.stat_result, copied: Contents) -> None:
    if copied.size_bytes != before.st_size or _identity(os.fstat(reading)) != _identity(before):
        raise CopyError("changed while it was copied")
    if _identity(os.stat(source)) != _identity(before):  # noqa: PTH116
        raise CopyError("was replaced while it was copied")


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
