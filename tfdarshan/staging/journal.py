"""What the stager made below a fast root: a file of JSON lines, each durable before what it tells of is seen.

A copy is known by its inode number, size and time of change, so a file that somebody else put in its place is
not taken for it. A line that was cut off by a crash tells of nothing that was made.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.durable.durable_file import sync_folder
from tfdarshan.errors import StorageError, reason
from tfdarshan.staging.plan_file import is_below

FILE, LINK, FOLDER = "file", "link", "folder"
# The name of the fast root itself.
ROOT = "."
# Why there is nothing of a name: the last, because no file can have it.
NO_SUCH_NAME = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True)
class Record:
    """A thing that was made, or was about to be.

    Attributes:
        kind: FILE, LINK or FOLDER.
        name: Its name below the fast root.
        plan: The plan it was made for, or that uses what another plan had made.
        inode: Inode number of a copy.
        size: Size of a copy, and of its original.
        mtime_ns: Time of change of a copy: its original's, as exactly as the fast tier keeps it.
        source_mtime_ns: Time of change of its original.
        checksum: Checksum of a copy by `policy`, "" if none was taken.
        policy: How it was taken.
        target: The original that a link leads to, or that a copy is of; of the fast root, the outermost
            folder that was made for it.
    """

    kind: str
    name: str
    plan: str
    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    source_mtime_ns: int = 0
    checksum: str = ""
    policy: str = ""
    target: str = ""

    def is_of(self, path: str) -> bool:
        """Return whether `path` is what was made."""
        try:
            found = os.lstat(path)
            if self.kind == LINK:
                return stat.S_ISLNK(found.st_mode) and os.readlink(path) == self.target  # noqa: PTH115
        except OSError:
            return False
        if self.kind == FOLDER:
            return stat.S_ISDIR(found.st_mode)
        known = (self.inode, self.size, self.mtime_ns)
        return stat.S_ISREG(found.st_mode) and (found.st_ino, found.st_size, found.st_mtime_ns) == known

    def stands_for(self, original: str) -> bool:
        """Return whether it is a copy of a file, or a link to it."""
        return self.target == original


class Journal:
    """The records of one fast root, by name.

    A name may have several: a copy that was made anew has two, and one that two plans use has one of each.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self.records: dict[str, list[Record]] = {}
        self._whole_bytes = self._read()

    def owner_of(self, name: str, path: str) -> Record | None:
        """Return the newest record of what is at `path` now, None if it is not ours."""
        return next(self._owners(name, path), None)

    def owners_of(self, name: str, path: str) -> list[Record]:
        """Return the records of what is at `path` now, the newest first: of each plan that uses it."""
        return list(self._owners(name, path))

    def _owners(self, name: str, path: str) -> Iterator[Record]:
        return (record for record in reversed(self.records.get(name, ())) if record.is_of(path))

    def adopted(self, name: str, path: str, plan: str) -> list[Record]:
        """Return what has to be recorded for a plan to use what is at `path`: nothing if it does already."""
        owners = self.owners_of(name, path)
        known = not owners or any(owner.plan == plan for owner in owners)
        return [] if known else [dataclasses.replace(owners[0], plan=plan)]

    def add(self, records: Iterable[Record]) -> None:
        """Write records durably: adds them to the file, which `durable_file` would write anew each time.

        Raises:
            OSError: They cannot be written.
        """
        new = list(records)
        if not new:
            return
        if self._descriptor is None:
            self._open()
        assert self._descriptor is not None
        lines = b"".join(json.dumps(_short(record)).encode("ascii") + b"\n" for record in new)
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError:
            # Half a line must not stand before the next one.
            os.ftruncate(self._descriptor, self._whole_bytes)
            os.lseek(self._descriptor, 0, os.SEEK_END)
            raise
        self._whole_bytes += len(lines)
        for record in new:
            self.records.setdefault(record.name, []).append(record)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> None:
        """Open the file for appending, without the line that a crash cut off."""
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._descriptor, self._whole_bytes)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        sync_folder(self._path.parent)

    def _read(self) -> int:
        """Read what is there; return the bytes of its whole lines."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise StorageError(
                f"the stager's journal {self._path} cannot be read: {reason(error)}."
            ) from error
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            record = self._record(number, line)
            self.records.setdefault(record.name, []).append(record)
        return whole

    def _record(self, number: int, line: bytes) -> Record:
        from tfdarshan.sessions.checked_json import DecodingError, decode
        from tfdarshan.staging.plan_shape import RecordShape

        try:
            shape = decode(line, RecordShape)
            if shape.name != ROOT and not is_below(shape.name):
                raise DecodingError(f"{shape.name!r} is not a name below the folder")
        except DecodingError as error:
            raise StorageError(
                f"the stager's journal {self._path} is damaged at line {number} ({error}): what was staged "
                "there cannot be told; compare the folder with its plan by hand."
            ) from error
        return Record(**{name: getattr(shape, name) for name in shape.__struct_fields__})


def is_there(path: str) -> bool:
    """Return whether something has this name.

    Raises:
        OSError: That cannot be told, as on a disk that fails.
    """
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno in NO_SUCH_NAME:
            return False
        raise
    return True


def _short(record: Record) -> dict[str, object]:
    """Return the fields that say something."""
    return {name: value for name, value in dataclasses.asdict(record).items() if value not in ("", 0)}
