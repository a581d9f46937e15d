"""Writes an output file whole and durably or not at all, and never over one that is there unless told to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.errors import StorageError, reason


@contextmanager
def output_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which gets its name when the block ends without an error.

    A link, such as /dev/stdout, stays: what it leads to is written.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    check_output(path, force=force)
    try:
        with durable_file(Path(os.path.realpath(path)), shared=True) as file:
            yield file
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {reason(error)}; name another file.") from error


def check_output(path: Path, *, force: bool) -> None:
    """Refuse what `output_file` does not write, before there is work to lose.

    Raises:
        StorageError: It is there, or no file.
    """
    if path.is_dir():
        raise StorageError(f"{path} is a folder: name a file to write.")
    if path.exists() and not Path(os.path.realpath(path)).is_file():
        what = "it is a device, a pipe or a socket, not a file"
        raise StorageError(f"{path} cannot be written: {what}; name another file.")
    if path.exists() and not force:
        raise StorageError(f"{path} already exists: choose another name, or replace it with --force.")


def write_output(path: Path, content: bytes, *, force: bool) -> None:
    """Write a whole file.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    with output_file(path, force=force) as file:
        file.write(content)
