"""Folders that this user can write to: for what is kept, and for what is removed again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tfdarshan.errors import StorageError

SHARED_MEMORY = Path("/dev/shm")


def cache_folder() -> Path:
    """Return tfdarshan's folder for what is kept between runs; it may not be there yet.

    A user without a home, as a number that a container was given, has one in the folder for temporary files.
    Source: XDG Base Directory Specification: $XDG_CACHE_HOME, else $HOME/.cache.

    Raises:
        StorageError: There is no folder for temporary files, which such a user needs.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return Path(base) / "tfdarshan"
    try:
        return Path("~/.cache").expanduser() / "tfdarshan"
    except RuntimeError:
        return _own_folder(temporary_folder() / f"tfdarshan-cache-{os.getuid()}")


def temporary_folder() -> Path:
    """Return the folder for temporary files, or shared memory if a read-only system has none.

    Raises:
        StorageError: There is neither.
    """
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        if os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
            return SHARED_MEMORY
    raise StorageError("no folder for temporary files can be written: set TMPDIR to one of yours.")


def _own_folder(folder: Path) -> Path:
    """Return a folder where others may write, if nobody else has made it.

    Raises:
        StorageError: Somebody has, or it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}; set XDG_CACHE_HOME.") from error
    if status.st_uid != os.getuid() or folder.is_symlink():
        raise StorageError(f"{folder} belongs to somebody else: set XDG_CACHE_HOME to a folder of yours.")
    return folder
