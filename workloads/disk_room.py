"""Say before the work begins that there is too little disk for it."""

from __future__ import annotations

import shutil
from pathlib import Path

from tfdarshan.errors import StorageError
from tfdarshan.units import human_bytes

RESERVE_BYTES = 64 << 20


def check_room(directory: Path, needed_bytes: int, what: str) -> None:
    """Return when `directory` has room for `needed_bytes` and a reserve.

    Args:
        directory: Where it is to be written; need not exist yet.
        needed_bytes: What is still to be written.
        what: Its name in the message.

    Raises:
        StorageError: There is too little.
    """
    there = next(
        folder for folder in (directory.absolute(), *directory.absolute().parents) if folder.exists()
    )
    free_bytes = shutil.disk_usage(there).free
    if needed_bytes + RESERVE_BYTES > free_bytes:
        raise StorageError(
            f"{what} needs {human_bytes(needed_bytes)} in {directory}, where {human_bytes(free_bytes)} are "
            "free: use fewer or smaller files (--files, --size-scale), or another --work-dir."
        )
