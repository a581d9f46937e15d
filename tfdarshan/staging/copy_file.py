"""Copies one file under a temporary name: whole, durable and compared, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.staging.checksum import BLOCK, new_checksum
from tfdarshan.staging.plan import PlannedFile


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
    moved: Callable[[int], None] = lambda count: None,
) -> Copied:
    """Copies `source` to `target`, which must not exist, with its permissions and time of change.

    The original is opened for reading only, and looked at before and after: one that changed meanwhile is no
    copy. What arrived is read again and compared.

    Args:
        source: The original; a symbolic link is followed.
        target: The temporary name.
        planned: What the plan says of it, None to take it as it is.
        policy: How the copy is compared, one of `checksum.POLICIES`.
        limit: Limits what is read of it.
        moved: Is told of every block's bytes.

    Raises:
        CopyError: The original is not as planned, changed, or the copy differs from it.
        OSError: A read or write failed.
    """
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        before = os.fstat(reading)
        if not stat.S_ISREG(before.st_mode):
            raise CopyError("is no regular file any more")
        if planned is not None and (before.st_size, before.st_mtime_ns) != (planned.size, planned.mtime_ns):
            raise CopyError("has changed since the plan was made; --refresh takes it as it is now")
        writing = os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            checksum = new_checksum(policy)
            count = _transfer(reading, writing, checksum.update, limit, moved)
            os.fchmod(writing, stat.S_IMODE(before.st_mode) & 0o777)
            os.utime(writing, ns=(before.st_atime_ns, before.st_mtime_ns))
            os.fsync(writing)
            if count != before.st_size or _identity(os.fstat(reading)) != _identity(before):
                raise CopyError("changed while it was copied")
            if _identity(os.stat(source)) != _identity(before):  # noqa: PTH116
                raise CopyError("was replaced while it was copied")
            _compare(writing, count, policy, checksum.hexdigest())
            made = os.fstat(writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
    return Copied(
        target, made.st_ino, made.st_size, made.st_mtime_ns, before.st_mtime_ns, checksum.hexdigest()
    )


def checksum_of(path: str, policy: str) -> str:
    """Gives a file's checksum, "" for the policy that takes none.

    Raises:
        OSError: It cannot be read.
    """
    if policy == "size":
        return ""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return _read_back(handle, policy)[1]
    finally:
        os.close(handle)


def _transfer(
    reading: int,
    writing: int,
    update: Callable[[bytes], None],
    limit: BandwidthLimit,
    moved: Callable[[int], None],
) -> int:
    """Copies to the end of the file; gives the bytes."""
    count = 0
    while block := os.read(reading, BLOCK):
        limit.take(len(block))
        update(block)
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(writing, rest) :]
        count += len(block)
        moved(len(block))
    return count


def _compare(writing: int, count: int, policy: str, wanted: str) -> None:
    """Reads the copy from its device, as far as its pages can be dropped, and compares."""
    if policy == "size":
        found, checksum = os.fstat(writing).st_size, wanted
    else:
        with contextlib.suppress(OSError):
            os.posix_fadvise(writing, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(writing, 0, os.SEEK_SET)
        found, checksum = _read_back(writing, policy)
    if (found, checksum) != (count, wanted):
        raise CopyError("its copy differs from it: the fast tier did not keep what was written")


def _read_back(handle: int, policy: str) -> tuple[int, str]:
    checksum, count = new_checksum(policy), 0
    while block := os.read(handle, BLOCK):
        checksum.update(block)
        count += len(block)
    return count, checksum.hexdigest()


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
