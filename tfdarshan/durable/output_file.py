"""Writes an output file whole and durably or not at all, and never over one that is there unless told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.errors import StorageError, reason


@contextmanager
def output_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which gets its name when the block ends without an error.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    if path.is_dir():
        raise StorageError(f"{path} is a folder: name a file to write.")
    if path.exists() and not force:
        raise StorageError(f"{path} already exists: choose another name, or replace it with --force.")
    try:
        with durable_file(path, shared=True) as file:
            yield file
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {reason(error)}; name another file.") from error


def write_output(path: Path, content: bytes, *, force: bool) -> None:
    """Write a whole file.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    with output_file(path, force=force) as file:
        file.write(content)
