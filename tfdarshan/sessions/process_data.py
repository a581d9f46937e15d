"""Reads one process's part of a session, and says clearly what is wrong with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_directory import META_SUFFIX

REQUIRED_KEYS = (
    "schema_version",
    "owner",
    "host",
    "pid",
    "start_ns",
    "duration_ns",
    "counts",
    "time",
    "kernel",
    "tables",
)


@dataclass(frozen=True)
class ProcessData:
    """One process's metadata and where its tables are."""

    directory: Path
    meta: dict[str, Any]

    @property
    def pid(self) -> int:
        """The process's id."""
        return int(self.meta["pid"])

    def table_path(self, table: str) -> Path:
        """Gives the path of table "files", "events" or "overview"."""
        return self.directory / str(self.meta["tables"][table]["file"])

    def table(self, table: str, columns: Sequence[str] | None = None) -> Any:
        """Reads a table, or some of its columns, as a pyarrow table.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        path = self.table_path(table)
        try:
            with _parquet(path) as file:
                return file.read(columns=None if columns is None else list(columns))
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[Any]:
        """Reads columns of a table as pyarrow record batches, one per row group.

        Most counters of most files are 0: a column that holds one number in a whole row group, by the
        group's statistics, is not read but made.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        path = self.table_path(table)
        try:
            with _parquet(path) as file:
                declared = file.schema_arrow
                fields = [declared.field(name) for name in columns]
                for group in range(file.metadata.num_row_groups):
                    yield from _group_batches(file, group, fields)
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def event_batches(
        self, columns: Sequence[str], windows_ns: Sequence[tuple[int, int]] | None = None
    ) -> Iterator[Any]:
        """Reads columns of the events table as pyarrow record batches.

        Args:
            columns: Their names.
            windows_ns: Only row groups with calls that were running within one of these, (from, until).

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        path = self.table_path("events")
        try:
            with _parquet(path) as file:
                metadata = file.metadata
            # Many processes are read side by side: none keeps its file open from one batch to the next.
            for group in _groups_within(metadata, windows_ns):
                with _parquet(path, metadata) as file:
                    found = file.read_row_group(group, columns=list(columns))
                yield from found.combine_chunks().to_batches()
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def event_rows(self) -> int:
        """Counts the rows of the events table.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        path = self.table_path("events")
        try:
            with _parquet(path) as file:
                return int(file.metadata.num_rows)
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def columns(self, table: str) -> list[str]:
        """Names a table's columns.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        path = self.table_path(table)
        try:
            with _parquet(path) as file:
                return list(file.schema_arrow.names)
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def check_tables(self) -> None:
        """Reads all of all tables once.

        Raises:
            SessionDataError: One is damaged or missing.
        """
        for table in self.meta["tables"]:
            path = self.table_path(table)
            try:
                with _parquet(path) as file:
                    for _batch in file.iter_batches(batch_size=schema.FILES_ROW_GROUP):
                        pass
            except _arrow_errors() as error:
                raise _damaged(path, error) from error


def read_process(meta_path: Path) -> ProcessData:
    """Reads a process's metadata.

    Raises:
        SessionDataError: It is damaged, or written by a newer version.
    """
    try:
        meta = json.loads(meta_path.read_text(encoding="utf-8"))
        version = int(meta["schema_version"])
    except OSError as error:
        raise SessionDataError(f"{meta_path} cannot be read: {reason(error)}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise SessionDataError(f"{meta_path} is damaged: it is not a session's metadata.") from error
    if version > schema.SCHEMA_VERSION:
        raise SessionDataError(
            f"{meta_path} has schema version {version} and this tfdarshan reads up to "
            f"{schema.SCHEMA_VERSION}: upgrade with `pip install -U tfdarshan`."
        )
    missing = [key for key in REQUIRED_KEYS if key not in meta]
    if missing:
        raise SessionDataError(f"{meta_path} is damaged: it lacks {', '.join(missing)}.")
    _check_names(meta_path, meta["tables"])
    return ProcessData(meta_path.parent, meta)


def _check_names(meta_path: Path, tables: Any) -> None:
    """Refuses tables that are not beside their metadata: a copied session may come from anybody."""
    try:
        names = [about["file"] for about in tables.values()]
    except (AttributeError, KeyError, TypeError):
        names = [None]
    if not all(isinstance(name, str) and name and Path(name).name == name for name in names):
        raise SessionDataError(f"{meta_path} is damaged: it names tables outside of its folder.")


@contextmanager
def _parquet(path: Path, metadata: Any = None) -> Iterator[Any]:
    """Opens a table; by bytes, for Arrow takes a path that is text for UTF-8."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.OSFile(os.fsencode(path)) as source, pq.ParquetFile(source, metadata=metadata) as file:
        yield file


def _group_batches(file: Any, group: int, fields: list[Any]) -> Iterator[Any]:
    """Yields a row group's columns as record batches; those of one number are made, not read."""
    import pyarrow as pa

    # One column is read in any case: it says how many rows there are.
    same = _constants(file.metadata.row_group(group), [field.name for field in fields[1:]])
    made: dict[tuple[float, Any], Any] = {}

    def column(batch: Any, field: Any) -> Any:
        if field.name not in same:
            return batch.column(field.name)
        key = same[field.name], field.type
        if key not in made:
            made[key] = pa.repeat(pa.scalar(*key), batch.num_rows)
        return made[key].slice(0, batch.num_rows)

    read = [field.name for field in fields if field.name not in same]
    for batch in file.iter_batches(batch_size=schema.FILES_ROW_GROUP, row_groups=[group], columns=read):
        yield pa.RecordBatch.from_arrays([column(batch, field) for field in fields], schema=pa.schema(fields))


def _constants(group: Any, columns: Sequence[str]) -> dict[str, float]:
    """Gives the number of each column that has only one in a row group, and no null."""
    same = {}
    places = {group.column(place).path_in_schema: place for place in range(group.num_columns)}
    for name in columns:
        found = group.column(places[name]).statistics if name in places else None
        if found is None or found.physical_type not in ("INT64", "DOUBLE") or not found.has_min_max:
            continue
        if found.null_count == 0 and found.min == found.max:
            same[name] = found.max
    return same


def _groups_within(metadata: Any, windows_ns: Sequence[tuple[int, int]] | None) -> list[int]:
    """Lists the row groups whose calls may have been running in a window, by their statistics."""
    groups = list(range(metadata.num_row_groups))
    if windows_ns is None or not groups:
        return groups
    places = {metadata.schema.column(place).name: place for place in range(metadata.num_columns)}

    def bounds(group: int, name: str) -> tuple[int, int]:
        found = metadata.row_group(group).column(places[name]).statistics
        return (found.min, found.max) if found is not None and found.has_min_max else (-(1 << 63), 1 << 63)

    spans = [(group, bounds(group, "start_ns")[0], bounds(group, "end_ns")[1]) for group in groups]
    return [
        group
        for group, first_ns, last_ns in spans
        if any(first_ns < until_ns and last_ns >= from_ns for from_ns, until_ns in windows_ns)
    ]


def _arrow_errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (OSError, pa.ArrowException, ValueError)


def _damaged(path: Path, error: Exception) -> SessionDataError:
    what = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({reason(error)})"
    if len(list(path.parent.glob(f"*{META_SUFFIX}"))) > 1:
        rest = "the session's other processes can be read with skip_damaged (--skip-damaged)"
    else:
        rest = "the session has no other processes, so nothing of it can be read"
    return SessionDataError(f"{path} {what}: {rest}.")
