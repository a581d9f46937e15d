"""Where a database's files are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataPath:
    """A database on disk.

    Attributes:
        given: As LMDB is given it: a folder, or with MDB_NOSUBDIR the data file.
        data: The data file.
        lock: The lock file, which may be missing.
    """

    given: Path
    data: Path
    lock: Path


def data_path(path: str | os.PathLike[str]) -> DataPath:
    """Find a database by its folder or its data file."""
    given = Path(path)
    if not given.is_dir():
        in_folder = given.name == "data.mdb" and (given.parent / "lock.mdb").exists()
        if not in_folder:
            return DataPath(given, given, given.with_name(given.name + "-lock"))
        given = given.parent
    return DataPath(given, given / "data.mdb", given / "lock.mdb")
