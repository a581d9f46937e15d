"""The paths of some files, read without the rest of the file table: a million rows take a second."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.sessions.process_data import ProcessData

NO_FILE = 0


class Named(Protocol):
    """What has the paths that `Segments.file` points at: a file table, or a few names."""

    @property
    def paths(self) -> Any:
        """The paths, a pyarrow array."""


class FileNames:
    """The files that some calls were made on; place 0 is "(no file)". Paths are read when asked for.

    Args:
        worded: Gives what is shown of a path.
    """

    def __init__(self, worded: Callable[[str], str] = str) -> None:
        self._worded = worded
        self._ids: list[tuple[ProcessData, Array]] = []
        self._count = 1

    def add(self, process: ProcessData, file: Array) -> Array:
        """Add files by their ids within a process; return each one's place, int32, shape of `file`."""
        ids = np.flatnonzero(np.bincount(file)) if len(file) else np.zeros(0, np.int64)
        place = np.zeros(int(ids[-1]) + 1 if len(ids) else 1, np.int32)
        place[ids] = np.arange(self._count, self._count + len(ids))
        self._ids.append((process, ids))
        self._count += len(ids)
        return place[file]

    @cached_property
    def paths(self) -> Any:
        """The paths by place, a pyarrow array.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        found = [PATHS_OF_NO_FILE[NO_FILE]]
        for process, ids in self._ids:
            found += self._of(process, ids)
        return pa.array(found, pa.string())

    def _of(self, process: ProcessData, ids: Array) -> list[str]:
        """Return the paths of ids, which ascend; "(no file)" for those without a row."""
        paths = [PATHS_OF_NO_FILE[NO_FILE]] * len(ids)
        if len(ids) == 0:
            return paths
        wanted = np.zeros(int(ids[-1]) + 2, bool)
        wanted[ids] = True
        for batch in process.batches("files", ("file", "path")):
            file = batch.column("file").to_numpy().astype(np.int64)
            chosen = wanted[np.minimum(file, len(wanted) - 1)]
            found = batch.column("path").filter(pa.array(chosen)).to_pylist()
            for row, path in zip(np.searchsorted(ids, file[chosen]).tolist(), found, strict=True):
                paths[row] = self._worded(path)
        return paths
