"""Where each file of a process is: its folder and its mount point, by the file's id."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.directory import parents_of
from tfdarshan.analysis.intervals import Array
from tfdarshan.sessions.process_data import ProcessData

COLUMNS = ("file", "path", "mount_point")
# Processes whose files are kept in mind: windows of time that follow each other have the same ones.
KEPT = 16
# What is no file has none.
NOWHERE = ""


@dataclass(frozen=True)
class Places:
    """`code` has an entry for each id of a file, int32: a place in `names`, of which the first is NOWHERE.

    The last entry is that of all ids above.
    """

    code: Array
    names: tuple[str, ...]

    def of(self, file: Array) -> Array:
        """Gives the place of each file; that of one without a row is NOWHERE."""
        found: Array = self.code[np.minimum(file, len(self.code) - 1)]
        return found


@dataclass(frozen=True)
class FilePlaces:
    """The folders and mount points of a process's files."""

    folders: Places
    mounts: Places


def file_places(process: ProcessData) -> FilePlaces:
    """Gives them; files tables that were read a moment ago are not read again.

    Raises:
        SessionDataError: The files table is damaged or missing.
    """
    return _read(_Source(process))


class _Source:
    """A process, which is the same as another if it has the same files table."""

    def __init__(self, process: ProcessData) -> None:
        self.process = process
        about = process.meta["tables"]["files"]
        self._key = (process.table_path("files"), about.get("first"), about.get("rows"), *_state(process))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Source) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _state(process: ProcessData) -> tuple[int, int]:
    """Gives what tells a table from another of its name; whoever reads one that is missing is told so."""
    try:
        found = process.table_path("files").stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=KEPT)
def _read(source: _Source) -> FilePlaces:
    batches = list(source.process.batches("files", COLUMNS))
    file = np.concatenate([np.zeros(0, np.int64), *(batch.column("file").to_numpy() for batch in batches)])
    texts = {
        name: pa.chunked_array([batch.column(name).cast(pa.string()) for batch in batches], pa.string())
        for name in COLUMNS[1:]
    }
    return FilePlaces(_places(file, parents_of(texts["path"])), _places(file, texts["mount_point"]))


def _places(file: Array, names: pa.ChunkedArray) -> Places:
    """Gives what the last row of each file says."""
    encoded = names.fill_null(NOWHERE).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names_found = encoded.dictionary.to_pylist()
    known = {name: place for place, name in enumerate(dict.fromkeys([NOWHERE, *names_found]))}
    code = np.array([known[name] for name in names_found] or [0], np.int32)
    of_file = np.zeros(int(file.max(initial=0)) + 2, np.int32)
    of_file[file] = code[encoded.indices.to_numpy()] if len(file) else 0
    return Places(of_file, tuple(known))
