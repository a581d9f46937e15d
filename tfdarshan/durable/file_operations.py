"""The file operations that durable writing consists of: a crash may fall before any."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Step = Callable[[str, Path], None]
# Thousands of small files are copied by their names: a Path of each would take longer than its bytes.
AnyPath = str | Path


def _no_step(_operation: str, _path: Path) -> None:
    """What is called before each operation when nobody watches."""


class Storage:
    """File operations that raise OSError and are durable where they say so.

    Args:
        before: Called with the operation's name and path before each one; an OSError that it raises stands
            for the operation's own, which is how tests let any step fail or be the last.
    """

    def __init__(self, before: Step = _no_step) -> None:
        self._before = before

    def _step(self, operation: str, path: AnyPath) -> None:
        if self._before is not _no_step:
            self._before(operation, Path(path))

    def make_folder(self, folder: Path, *, parents: bool = False) -> None:
        """Make a folder, and its parents if told so; one that exists is fine."""
        self._step("mkdir", folder)
        folder.mkdir(parents=parents, exist_ok=True)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name, which keeps its bytes when the first name is removed."""
        self._step("link", target)
        os.link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        """Rename, replacing a file that has the new name; durable after `sync_folder` of both folders."""
        self._step("rename", target)
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file; one that is not there is fine."""
        self._step("unlink", path)
        path.unlink(missing_ok=True)

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder with all that is in it; one that is not there is fine."""
        self._step("rmtree", folder)
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)

    def open(self, path: AnyPath, flags: int, mode: int = 0o666) -> int:
        """Open a file and return its descriptor."""
        self._step("open", path)
        return os.open(path, flags | os.O_CLOEXEC, mode)

    @contextmanager
    def opened(self, path: AnyPath, flags: int, mode: int = 0o666) -> Iterator[int]:
        """Open a file for the block, which gets its descriptor."""
        descriptor = self.open(path, flags, mode)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, descriptor: int, view: memoryview, path: AnyPath) -> int:
        """Fill `view` from a file and return the bytes read: fewer only at its end."""
        self._step("read", path)
        filled = 0
        while filled < len(view):
            count = os.readv(descriptor, [view[filled:]])
            if not count:
                break
            filled += count
        return filled

    def write(self, descriptor: int, view: memoryview, path: AnyPath) -> None:
        """Write all of `view`."""
        self._step("write", path)
        while view:
            view = view[os.write(descriptor, view) :]

    def sync(self, descriptor: int, path: AnyPath) -> None:
        """Make an open file's bytes durable."""
        self._step("fsync", path)
        os.fsync(descriptor)

    def sync_file(self, path: Path) -> None:
        """Make a file's bytes durable, whoever wrote them."""
        with self.opened(path, os.O_RDONLY) as descriptor:
            self.sync(descriptor, path)

    def sync_folder(self, folder: AnyPath) -> None:
        """Make a folder's names durable, if its file system has a call for that: EINVAL says it has none."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(descriptor, folder)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(descriptor)

    def write_file(self, path: Path, text: str) -> None:
        """Write a new small file and make its bytes durable, not its name."""
        with self.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
            self.write(descriptor, memoryview(text.encode()), path)
            self.sync(descriptor, path)

    def mark(self, path: Path) -> None:
        """Make an empty file, of which nothing is durable."""
        os.close(self.open(path, os.O_WRONLY | os.O_CREAT))

    def write_json(self, path: Path, value: Any) -> None:
        """Write a new JSON file and make its bytes durable, not its name."""
        self.write_file(path, json.dumps(value, indent=1) + "\n")


def set_direct(descriptor: int, direct: bool) -> bool:
    """Switch a descriptor past the page cache or back; False where its file system cannot.

    A copy past the page cache leaves no dirty pages that other writers would wait for, evicts nothing, and
    is read back from the device.
    """
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    wanted = flags | os.O_DIRECT if direct else flags & ~os.O_DIRECT
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, wanted)
    except OSError:
        return False
    return True
