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
    return ProcessData(meta_path.parent, meta)


def _parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path)


def _arrow_errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (OSError, pa.ArrowException, ValueError)


def _damaged(path: Path, error: Exception) -> SessionDataError:
    what = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({reason(error)})"
    return SessionDataError(
        f"{path} {what}: the session's other processes can be read with skip_damaged (--skip-damaged)."
    )
