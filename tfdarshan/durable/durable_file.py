"""Writes files that are there whole and durable, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tfdarshan.durable.file_operations import Storage


@contextmanager
def durable_file(
    path: Path, *, shared: bool = False, temporary: Path | None = None, storage: Storage | None = None
) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces `path` when the block ends and its bytes are durable.

    Whatever ends the block early leaves `path` as it was. The name is durable after `sync_folder()`.

    Args:
        path: The file.
        shared: Whether others may write it at the same time: the last one's is there then. A writer that is
            killed leaves its temporary file; if `path` is not shared, the next writer takes it over.
        temporary: The temporary file on the same file system; by default one beside `path`.
        storage: The file operations; what is written through the file is not one of their steps.

    Raises:
        OSError: It cannot be written.
    """
    _refuse_what_is_no_file(path)
    storage = storage or Storage()
    temporary = temporary or path.with_name(
        f".tfdarshan-{os.urandom(4).hex()}.tmp" if shared else f".{path.name}.tmp"
    )
    try:
        handle = storage.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            storage.sync(handle, temporary)
        storage.rename(temporary, path)
    except BaseException:
        # On a read-only file system even a file that is not there cannot be removed.
        with suppress(OSError):
            storage.remove(temporary)
        raise


def _refuse_what_is_no_file(path: Path) -> None:
    """A file renamed to /dev/null or /dev/stdout would take its place, if root does it."""
    try:
        mode = path.stat().st_mode
    except OSError:  # most often: it is not there
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is a device, a pipe or a socket, not a file")


def replace_file(storage: Storage, path: Path, text: str, *, scratch: Path) -> None:
    """Put `text` in place of a file at once and durably: at any time it holds all of the old or the new.

    Args:
        storage: The file operations.
        path: The file.
        text: What it holds from now on.
        scratch: A folder of the same file system for the temporary file.

    Raises:
        OSError: It cannot be written.
    """
    temporary = scratch / f"{path.name}.new"
    with durable_file(path, temporary=temporary, storage=storage) as file:
        storage.write(file.fileno(), memoryview(text.encode()), temporary)
    storage.sync_folder(path.parent)


def sync_folder(folder: str | Path) -> None:
    """Make the names in a folder durable.

    Raises:
        OSError: It is not there, or its device failed.
    """
    Storage().sync_folder(folder)
