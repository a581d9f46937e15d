"""Writes the processes of a session that did little into files that they share.

A file of its own takes milliseconds until it is durable, and its reader nearly as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.native.spool_reader import SpoolInfo, SpoolReader
from tfdarshan.sessions.gathered_processes import LIST, SHARED, TABLES, UNTRACED
from tfdarshan.sessions.writing.shared_tables import EventRows, FileRows, UntracedRows
from tfdarshan.sessions.writing.tables import Process

# A process with more has tables of its own, whose row groups views read by time.
MOST_FILE_ROWS, MOST_SEGMENTS = 1_000, 10_000


def is_small(info: SpoolInfo, reader: SpoolReader) -> bool:
    """Return whether a process shares its files with others."""
    mapping = reader.mapping()
    few = info.file_rows <= MOST_FILE_ROWS and info.segments <= MOST_SEGMENTS
    return few and not reader.thinned()[0] and (mapping is None or not mapping.faults_kept)


@contextmanager
def gathering(directory: Path, host: str) -> Iterator[Gathering]:
    """Yield what writes small processes into a session's folder; if there are none, it makes no file.

    Raises:
        OSError: A file could not be written.
    """
    with ExitStack() as files:
        together = Gathering(directory, host, files)
        yield together
        together.finish()


class Gathering:
    """The processes that share files.

    Args:
        directory: The session's folder.
        host: Where they ran.
        files: Keeps the files open, and gives them their names at its end.
    """

    def __init__(self, directory: Path, host: str, files: ExitStack) -> None:
        self._directory, self._host, self._files = directory, host, files
        self._shared: list[dict[str, Any]] = []
        self.count = 0

    @cached_property
    def _list(self) -> BinaryIO:
        return self._files.enter_context(durable_file(self._directory / LIST))

    @cached_property
    def _tables(self) -> dict[str, FileRows | EventRows]:
        files, events = (self._directory / TABLES[name] for name in ("files", "events"))
        return {
            "files": FileRows(self._files, files, self._host),
            "events": EventRows(self._files, events),
        }

    @cached_property
    def _untraced(self) -> UntracedRows:
        return UntracedRows(self._files, self._directory / UNTRACED)

    def add_tables(self, process: Process, reader: SpoolReader, info: SpoolInfo) -> dict[str, Any]:
        """Add a process's rows, and return the entry `tables` of its metadata."""
        added = {name: table.add(process, reader, info) for name, table in self._tables.items()}
        tables = {
            name: {"file": TABLES[name], "first": first, "rows": rows}
            for name, (first, rows) in added.items()
        }
        if info.events_dropped and len((sums := reader.untraced())["calls"]):
            first, rows = self._untraced.add(process, sums)
            tables["untraced"] = {"file": UNTRACED, "first": first, "rows": rows}
        return tables

    def add(self, meta: Mapping[str, Any]) -> None:
        """Add a process's metadata."""
        shared = {name: meta[name] for name in SHARED if name in meta}
        if shared not in self._shared:
            self._shared.append(shared)
            self._write({"shared": shared})
        own = {name: entry for name, entry in meta.items() if name not in SHARED}
        self._write({"of": self._shared.index(shared), **own})
        self.count += 1

    def _write(self, entries: Mapping[str, Any]) -> None:
        self._list.write(json.dumps(entries).encode() + b"\n")

    def finish(self) -> None:
        """Write what waits."""
        if self.count:
            for table in self._tables.values():
                table.flush()
        if "_untraced" in self.__dict__:
            self._untraced.flush()
