"""Puts the tables of a session's small processes together, so that a thousand of them are read as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.recording.writing.tables import DELTA, parquet_file
from tfdarshan.sessions import schema
from tfdarshan.sessions.gathered_tables import LIST, TABLES, VERSION
from tfdarshan.sessions.session_directory import write_json

# Fewer processes are read as quickly one by one.
LEAST_PROCESSES = 16
# A table with more rows is worth its own footer.
MOST_ROWS = {"files": 1_000, "events": 10_000}
# What may wait in memory until it is written.
MOST_BYTES = 64 << 20


class FewRows:
    """The rows of a table, as long as they are few.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0
        self.arrays: list[list[Any]] = []

    @property
    def are_all(self) -> bool:
        """Whether these are all rows of the table."""
        return self.count <= self._most

    @property
    def bytes(self) -> int:
        """What they take in memory."""
        return sum(int(array.nbytes) for arrays in self.arrays for array in arrays)

    def add(self, arrays: list[Any]) -> None:
        """Adds rows, given as one array per column."""
        self.count += len(arrays[0])
        if self.are_all:
            self.arrays.append(arrays)
        else:
            self.arrays = []


@dataclass(frozen=True)
class _Part:
    file: str
    rows: FewRows


class Gathering:
    """What was put together so far of a session.

    Args:
        directory: The session's folder.
        processes: How many processes it has, about.
    """

    def __init__(self, directory: Path, processes: int) -> None:
        self._directory = directory
        self._most = MOST_ROWS if processes >= LEAST_PROCESSES else dict.fromkeys(TABLES, -1)
        self._parts: dict[str, list[_Part]] = {table: [] for table in TABLES}
        self._bytes = 0

    def begin(self) -> dict[str, FewRows]:
        """Gives what takes the rows of the next process, by kind of table."""
        return {table: FewRows(self._most[table]) for table in TABLES}

    def add(self, rows: Mapping[str, FewRows], tables: Mapping[str, Any]) -> None:
        """Adds a process whose tables are written; `tables` is their part of its metadata."""
        for table, found in rows.items():
            size = found.bytes
            if found.are_all and self._bytes + size <= MOST_BYTES:
                self._parts[table].append(_Part(tables[table]["file"], found))
                self._bytes += size

    def write(self) -> None:
        """Writes it. A session is complete without: nothing is said of what cannot be written."""
        if any(self._parts.values()):
            with suppress(OSError):
                tables = {table: self._write(table, parts) for table, parts in self._parts.items()}
                write_json(self._directory / LIST, {"version": VERSION, "tables": tables})

    def _write(self, table: str, parts: Sequence[_Part]) -> dict[str, Any]:
        path = self._directory / f"gathered-{table}.parquet"
        is_files = table == "files"
        with parquet_file(
            path,
            schema.files_columns() if is_files else schema.EVENT_COLUMNS,
            row_group=schema.FILES_ROW_GROUP if is_files else schema.EVENTS_ROW_GROUP,
            encodings=None if is_files else {"start_ns": DELTA, "end_ns": DELTA},
        ) as write:
            for part in parts:
                for arrays in part.rows.arrays:
                    write(arrays)
        return {
            "file": path.name,
            "size_bytes": path.stat().st_size,
            "parts": [
                {
                    "file": part.file,
                    "size_bytes": (self._directory / part.file).stat().st_size,
                    "rows": part.rows.count,
                }
                for part in parts
            ],
        }
