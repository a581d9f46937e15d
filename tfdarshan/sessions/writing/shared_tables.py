"""Tables of many small processes: rows wait in memory until there are enough of them for Arrow."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.native.spool_reader import Array, EventBatch, FileBatch, Mount, SpoolInfo, SpoolReader
from tfdarshan.sessions import schema
from tfdarshan.sessions.writing.file_size import SizeFinder
from tfdarshan.sessions.writing.tables import (
    Process,
    event_arrays,
    events_file,
    file_arrays,
    files_file,
    in_session_time,
    untraced_arrays,
    untraced_file,
)

# Rows that wait at most, but for those of the process added last.
FILES_AT_A_TIME, EVENTS_AT_A_TIME = schema.FILES_BATCH, schema.EVENTS_ROW_GROUP


class _Rows:
    """Counts rows, those that wait, too."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = self._waiting = 0

    def _added(self, rows: int) -> tuple[int, int]:
        """Return a process's first row and how many it has; before it, rows are written if many wait."""
        first = self._count
        self._count, self._waiting = first + rows, self._waiting + rows
        if self._waiting >= self._most:
            self.flush()
        return first, rows

    def flush(self) -> None:
        """Write the rows that wait."""
        self._waiting = 0


class FileRows(_Rows):
    """The files table.

    Args:
        files: Keeps the file open.
        path: The file.
        host: Where the processes ran.
    """

    def __init__(self, files: ExitStack, path: Path, host: str) -> None:
        super().__init__(FILES_AT_A_TIME)
        self._write = files.enter_context(files_file(path, row_group=FILES_AT_A_TIME))
        self._host = host
        self._mounts: dict[tuple[str, str], int] = {}
        self._last_mounts: Sequence[Mount] = ()
        self._last_places: Array = np.array([-1], np.int32)
        self._batches: list[FileBatch] = []
        self._paths: list[str] = []
        self._pids: list[Array] = []

    def add(self, process: Process, reader: SpoolReader, info: SpoolInfo) -> tuple[int, int]:
        """Add a process's rows, and return the first one's number and how many they are."""
        sizes, mounts = SizeFinder(process.mounts), self._places(process.mounts)
        rows = 0
        for batch in reader.file_batches(max(info.file_rows, 1)):
            paths = reader.paths(batch.file)
            found = sizes.fill(paths, batch.mount, batch.size_bytes) if process.here else batch.size_bytes
            timed = in_session_time(batch, process.start_ns)
            self._batches.append(dataclasses.replace(timed, mount=mounts[batch.mount], size_bytes=found))
            self._paths += paths
            self._pids.append(np.full(len(paths), process.pid, np.int32))
            rows += len(paths)
        return self._added(rows)

    def flush(self) -> None:
        """Write the rows that wait."""
        super().flush()
        if self._batches:
            mounts = [Mount(point, fs_type, "", 0) for point, fs_type in self._mounts]
            pids = np.concatenate(self._pids)
            self._write(file_arrays(_joined(self._batches), self._paths, pids, self._host, mounts))
        self._batches, self._paths, self._pids = [], [], []

    def _places(self, mounts: Sequence[Mount]) -> Array:
        """Return the place of each of a process's mounts among those of all, and -1 for none at the end."""
        if mounts != self._last_mounts:
            known = self._mounts
            places = [known.setdefault((mount.point, mount.fs_type), len(known)) for mount in mounts]
            self._last_mounts, self._last_places = mounts, np.array([*places, -1], np.int32)
        return self._last_places


class EventRows(_Rows):
    """The events table.

    Args:
        files: Keeps the file open.
        path: The file.
    """

    def __init__(self, files: ExitStack, path: Path) -> None:
        super().__init__(EVENTS_AT_A_TIME)
        self._write = files.enter_context(events_file(path))
        self._batches: list[EventBatch] = []

    def add(self, process: Process, reader: SpoolReader, info: SpoolInfo) -> tuple[int, int]:
        """Add a process's rows, and return the first one's number and how many they are."""
        rows = 0
        for batch in reader.event_batches(max(info.segments, 1)):
            self._batches.append(
                dataclasses.replace(
                    batch,
                    start_ns=batch.start_ns + process.start_ns,
                    end_ns=batch.end_ns + process.start_ns,
                    pid=np.full(len(batch.tid), process.pid, np.int32),
                )
            )
            rows += len(batch.tid)
        return self._added(rows)

    def flush(self) -> None:
        """Write the rows that wait."""
        super().flush()
        if self._batches:
            self._write(event_arrays(_joined(self._batches), 0, 0))
        self._batches = []


class UntracedRows(_Rows):
    """The table of what calls without a segment did over time.

    Args:
        files: Keeps the file open.
        path: The file.
    """

    def __init__(self, files: ExitStack, path: Path) -> None:
        super().__init__(EVENTS_AT_A_TIME)
        self._write = files.enter_context(untraced_file(path))
        self._arrays: list[list[Any]] = []

    def add(self, process: Process, sums: Mapping[str, Array]) -> tuple[int, int]:
        """Add a process's rows, and return the first one's number and how many they are."""
        self._arrays.append(untraced_arrays(sums, process.start_ns))
        return self._added(len(sums["calls"]))

    def flush(self) -> None:
        """Write the rows that wait."""
        super().flush()
        for arrays in self._arrays:
            self._write(arrays)
        self._arrays = []


def _joined(batches: Sequence[Any]) -> Any:
    """Return batches of one kind as one: its arrays' last axis counts rows."""
    columns = {
        field.name: np.concatenate([getattr(batch, field.name) for batch in batches], axis=-1)
        for field in dataclasses.fields(batches[0])
    }
    return type(batches[0])(**columns)
