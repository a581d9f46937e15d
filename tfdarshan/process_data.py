"""Reads one process's part of a session, and says clearly what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan import schema
from tfdarshan.errors import SessionDataError, reason

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
        """Reads columns of a table row group by row group, as pyarrow record batches.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        path = self.table_path(table)
        try:
            with _parquet(path) as file:
                yield from file.iter_batches(batch_size=schema.FILES_ROW_GROUP, columns=list(columns))
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def event_batches(
        self, columns: Sequence[str], window_ns: tuple[int, int] | None = None
    ) -> Iterator[Any]:
        """Reads columns of the events table as pyarrow record batches.

        Args:
            columns: Their names.
            window_ns: Only row groups with calls that were running between these two moments.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        path = self.table_path("events")
        try:
            with _parquet(path) as file:
                groups = _groups_within(file.metadata, window_ns)
                if groups:
                    yield from file.iter_batches(
                        batch_size=schema.EVENTS_ROW_GROUP, row_groups=groups, columns=list(columns)
                    )
        except _arrow_errors() as error:
            raise _damaged(path, error) from error

    def rows_within(self, window_ns: tuple[int, int] | None = None) -> int:
        """Counts the rows that `event_batches` gives.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        path = self.table_path("events")
        try:
            with _parquet(path) as file:
                groups = _groups_within(file.metadata, window_ns)
                return sum(file.metadata.row_group(group).num_rows for group in groups)
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
        """Reads all tables once.

        Raises:
            SessionDataError: One is damaged or missing.
        """
        for table in self.meta["tables"]:
            for _batch in self.batches(table, self.columns(table)):
                pass


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


def _parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path)


def _groups_within(metadata: Any, window_ns: tuple[int, int] | None) -> list[int]:
    """Lists the row groups whose calls may have been running in the window, by their statistics."""
    groups = list(range(metadata.num_row_groups))
    if window_ns is None or not groups:
        return groups
    places = {metadata.schema.column(place).name: place for place in range(metadata.num_columns)}

    def bounds(group: int, name: str) -> tuple[int, int]:
        found = metadata.row_group(group).column(places[name]).statistics
        return (found.min, found.max) if found is not None and found.has_min_max else (-(1 << 63), 1 << 63)

    return [
        group
        for group in groups
        if bounds(group, "start_ns")[0] < window_ns[1] and bounds(group, "end_ns")[1] >= window_ns[0]
    ]


def _arrow_errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (OSError, pa.ArrowException, ValueError)


def _damaged(path: Path, error: Exception) -> SessionDataError:
    what = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({reason(error)})"
    return SessionDataError(
        f"{path} {what}: the session's other processes can be read with skip_damaged (--skip-damaged)."
    )
