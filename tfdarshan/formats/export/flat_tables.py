"""Writes a session's tables, all processes in one, as Parquet or CSV: for pandas, DuckDB, spreadsheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tfdarshan.durable.output_file import check_output, output_file
from tfdarshan.errors import StorageError, reason
from tfdarshan.sessions import schema
from tfdarshan.sessions.frames import paths_of_files
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.terminal.progress import counter

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

FORMATS = ("parquet", "csv")
TABLES = ("files", "events")


@dataclass(frozen=True)
class FlatTables:
    """What was written: rows by file."""

    folder: Path
    rows: dict[str, int]


def export_tables(
    session: SessionData,
    folder: Path,
    kind: str,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FlatTables:
    """Write `files` and `events`, batch by batch; events have their path, and page faults follow the calls.

    Args:
        session: The session.
        folder: Where to, made if it is not there.
        kind: "parquet" or "csv".
        force: Replace files that are there.
        progress: Told the rows written, and those of both tables.

    Raises:
        SessionDataError: A table is damaged or missing.
        StorageError: A file is there and not to be replaced, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the folder {folder} cannot be made: {reason(error)}; name another folder."
        ) from error
    paths = {table: folder / f"{table}.{kind}" for table in TABLES}
    for path in paths.values():
        check_output(path, force=force)
    rows = {}
    wrote = counter(progress, sum(process.rows(table) for process in session.processes for table in TABLES))
    for table, path in paths.items():
        with output_file(path, force=force) as out:
            rows[path.name] = _write(out, session.processes, table, kind, wrote)
    return FlatTables(folder, rows)


def _write(
    out: Any, processes: list[ProcessData], table: str, kind: str, wrote: Callable[[int], None]
) -> int:
    writer, rows = None, 0
    for batch in _batches(processes, table):
        if writer is None:
            make = pq.ParquetWriter if kind == "parquet" else pa_csv.CSVWriter
            writer = make(out, batch.schema)
        writer.write_table(batch.cast(writer.schema) if kind == "parquet" else batch)
        rows += batch.num_rows
        wrote(batch.num_rows)
    if writer is not None:
        writer.close()
    return rows


def _batches(processes: list[ProcessData], table: str) -> Iterator[pa.Table]:
    """Yield tables without dictionaries, which CSV has not and which differ from process to process."""
    for process in processes:
        names = process.columns(table)
        paths = _Paths(process) if table == "events" else None
        read = _events_and_faults(process, names) if table == "events" else process.batches(table, names)
        empty = True
        for batch in read:
            yield _flat(batch, paths)
            empty = False
        if empty:
            yield _flat(process.table(table), paths)


def _events_and_faults(process: ProcessData, names: list[str]) -> Iterator[Any]:
    yield from process.event_batches(names)
    if "faults" in process.meta["tables"]:
        yield from process.batches("faults", names)


class _Paths:
    """Finds events' paths with the files table read once."""

    def __init__(self, process: ProcessData) -> None:
        highest = int(process.table("files", ["file"])["file"].to_numpy().max(initial=0))
        self._paths = paths_of_files(process, np.arange(highest + 1)) if highest else None

    def of(self, files: Any) -> Any:
        if self._paths is None:
            return pa.array([""] * len(files), pa.string())
        # Files that found no room have events of their own, and no row.
        return self._paths.take(pa.array(files, mask=files >= len(self._paths))).cast(pa.string())


def _flat(batch: Any, paths: _Paths | None) -> pa.Table:
    columns, fields = [], []
    for name in batch.schema.names:
        column = batch.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        columns.append(column)
        fields.append(pa.field(name, column.type))
    if paths is not None:
        columns.append(paths.of(batch.column("file").to_numpy()))
        fields.append(pa.field(schema.EVENT_PATH.name, pa.string()))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))
