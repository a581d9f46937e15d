"""The tables of a session's small processes, put together when the session was written.

A table of a few rows is mostly its footer: to open those of a thousand processes takes seconds. What was put
together holds the same rows again, in one file for each kind of table. It is never needed: a part of it that
is older than the table it was made of, or of another size, is not looked at, nor is a file that is damaged or
of another version. The processes' own tables are read then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.sessions.opened_table import arrow_errors, opened_table
from tfdarshan.sessions.table_check import check_columns

if TYPE_CHECKING:
    from tfdarshan.sessions.meta_shape import GatheredShape, GatheredTableShape

LIST = "gathered.json"
VERSION = 1
# Kinds of table that are put together.
TABLES = ("files", "events")


class GatheredTable:
    """The rows of many tables of one kind. Columns are read when first asked for, and stay in memory.

    Args:
        kind: The kind of table.
        path: The file.
        rows: How many rows it has.
        parts: By name of a process's table, its first row and how many there are.
    """

    def __init__(self, kind: str, path: Path, rows: int, parts: dict[str, tuple[int, int]]) -> None:
        self._kind, self._path, self._rows, self._parts = kind, path, rows, parts
        self._read: dict[tuple[str, ...], Any] = {}
        self._names: list[str] | None = None
        self._damaged = False

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a worker: not what was read."""
        return self.__dict__ | {"_read": {}}

    def rows(self, name: str, columns: Sequence[str] | Callable[[str], bool]) -> Any | None:
        """Gives columns of a process's table as a pyarrow record batch; None if they are not to be had here.

        Args:
            name: The name of the table's file.
            columns: Their names, or what says of a column whether it is wanted.
        """
        if name not in self._parts or self._damaged:
            return None
        found = self._columns(columns)
        return None if found is None else found.slice(*self._parts[name])

    def _columns(self, columns: Sequence[str] | Callable[[str], bool]) -> Any | None:
        errors: tuple[type[Exception], ...] = (*arrow_errors(), KeyError)
        try:
            if self._names is None:
                with opened_table(self._path) as file:
                    check_columns(self._kind, file.schema_arrow)
                    self._names = file.schema_arrow.names
            wanted = tuple(filter(columns, self._names)) if callable(columns) else tuple(columns)
            if wanted not in self._read:
                self._read[wanted] = self._some(wanted)
        except errors:
            self._damaged = True
            return None
        return self._read[wanted]

    def _some(self, wanted: tuple[str, ...]) -> Any:
        import pyarrow as pa

        with opened_table(self._path) as file:
            table = file.read(columns=list(wanted)).select(wanted)
        if table.num_rows != self._rows:
            raise pa.ArrowInvalid("it has another number of rows")
        return _one_batch(table)


def _one_batch(table: Any) -> Any:
    import pyarrow as pa

    whole = table.unify_dictionaries().combine_chunks()
    columns = [
        column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in whole.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=whole.schema)


def gathered_tables(directory: Path) -> dict[str, GatheredTable]:
    """Gives what was put together in a session's folder, by kind of table, as far as it may be used."""
    from tfdarshan.sessions.checked_json import DecodingError, decode
    from tfdarshan.sessions.meta_shape import GatheredShape

    path = directory / LIST
    try:
        found, written_ns = decode(path.read_bytes(), GatheredShape), path.stat().st_mtime_ns
    except (OSError, DecodingError):
        return {}
    return {} if found.version != VERSION else _usable(directory, found, written_ns)


def _usable(directory: Path, found: GatheredShape, written_ns: int) -> dict[str, GatheredTable]:
    return {
        kind: GatheredTable(
            kind,
            directory / table.file,
            sum(part.rows for part in table.parts),
            _parts(directory, table, written_ns),
        )
        for kind, table in found.tables.items()
        if kind in TABLES and _is_as_written(directory, table.file, table.size_bytes, written_ns)
    }


def _parts(directory: Path, table: GatheredTableShape, written_ns: int) -> dict[str, tuple[int, int]]:
    parts, first = {}, 0
    for part in table.parts:
        if _is_as_written(directory, part.file, part.size_bytes, written_ns):
            parts[part.file] = (first, part.rows)
        first += part.rows
    return parts


def _is_as_written(directory: Path, name: str, size: int, written_ns: int) -> bool:
    """Says whether a file of the folder has its size and is not newer than what was made of it."""
    if Path(name).name != name:
        return False
    try:
        found = (directory / name).stat()
    except (OSError, ValueError):
        return False
    return found.st_size == size and found.st_mtime_ns <= written_ns
