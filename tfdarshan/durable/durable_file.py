"""Writes files that are there whole and durable, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """Gives a file to write to, which replaces `path` when the block ends and its bytes are durable.

    Whatever ends the block early leaves `path` as it was. The name is durable after `sync_folder()`.

    Raises:
        OSError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        # On a read-only file system even a file that is not there cannot be removed.
        with suppress(OSError):
            temporary.unlink()
        raise


def sync_folder(folder: str | Path) -> None:
    """Makes the names in a folder durable.

    Raises:
        OSError: It is not there, or its device failed.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
