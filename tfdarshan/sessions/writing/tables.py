"""Writes one process's tables as Parquet: batch by batch from its spool, in bounded memory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import pyarrow as pa

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.file_name import table_name
from tfdarshan.native import _bridge
from tfdarshan.native.process_reader import ProcessReader
from tfdarshan.native.spool_reader import Array, EventBatch, FileBatch, Mount
from tfdarshan.sessions import schema
from tfdarshan.sessions.writing.file_size import SizeFinder
from tfdarshan.sessions.writing.overview_table import Overview

# What _open_writer() takes, loaded with this module: a job may have left its files' system by then (chroot).
with suppress(ImportError):
    import pyarrow._parquet

# What pyarrow.parquet chooses if it is not told.
CHOICES = {
    "version": "2.6",
    "writer_engine_version": "V2",
    "data_page_version": "1.0",
    "write_statistics": True,
}
DELTA = "DELTA_BINARY_PACKED"
# Columns of few different numbers; zstd makes more of the others, and faster, without a dictionary.
REPEATING = ("pid", "tid", "error", "flags")

Appending = AbstractContextManager[Callable[[list[Any]], None]]


class EventSource(Protocol):
    """What segments can be read from."""

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the segments in order of start, at most `rows` at a time."""


class CounterOverlay(Protocol):
    """Another engine's counters of a process."""

    def laid_over(self, batch: FileBatch, ids: Array, paths: list[str]) -> FileBatch:
        """Return a batch with that engine's counters where it has them, after both are compared.

        Args:
            batch: Rows with the builtin fold's counters, in session time.
            ids: Darshan's ids of the rows' files.
            paths: The rows' paths.
        """


@dataclass(frozen=True)
class Process:
    """What every row of a process's tables has in common; `start_ns` is since the session's start.

    Where `here` is False it ran on another machine: sizes of its files cannot be found out.
    """

    pid: int
    host: str
    start_ns: int
    mounts: Sequence[Mount]
    here: bool = True


def write_files(
    reader: ProcessReader,
    process: Process,
    path: Path,
    overlay: CounterOverlay | None = None,
    wrote: Callable[[int], None] = lambda rows: None,
) -> int:
    """Write the files table: one row per file and module. Return the number of rows.

    What the builtin fold counted becomes a row in this order: its times are made the session's, as those of
    libdarshan are; then libdarshan's counters are laid over it, and both are compared; then sizes are found
    out, which neither counts. Each makes another batch of the one before.

    Args:
        reader: What the process recorded.
        process: What all rows have in common.
        path: The table's file.
        overlay: libdarshan's counters, where it counted.
        wrote: Told of the rows of each batch.
    """
    sizes = SizeFinder(process.mounts)
    rows = 0
    with files_file(path) as write:
        for batch in reader.file_batches(schema.FILES_BATCH):
            paths = reader.paths(batch.file)
            batch = in_session_time(batch, process.start_ns)
            if overlay is not None:
                batch = overlay.laid_over(batch, reader.record_ids(batch.file), paths)
            found = batch.size_bytes
            if process.here:
                found = sizes.fill(paths, batch.mount, batch.size_bytes)
            batch = dataclasses.replace(batch, size_bytes=found)
            pids = np.full(len(paths), process.pid, np.int32)
            write(file_arrays(batch, paths, pids, process.host, process.mounts))
            rows += len(batch.file)
            wrote(len(batch.file))
    return rows


def write_events(
    source: EventSource,
    process: Process,
    path: Path,
    overview: Overview,
    wrote: Callable[[int], None] = lambda rows: None,
) -> int:
    """Write the events table and add its segments to `overview`. Return the number of rows.

    `wrote` is told of the rows of each batch.
    """
    operations = _bridge.operations()
    moves = np.array([operation.io_class in ("read", "write") for operation in operations])
    rows = 0
    with events_file(path) as write:
        for batch in source.event_batches(schema.EVENTS_ROW_GROUP):
            overview.add(batch, np.where(moves[batch.operation], batch.length, 0))
            write(event_arrays(batch, process.start_ns, process.pid))
            rows += len(batch.start_ns)
            wrote(len(batch.start_ns))
    return rows


def write_thinned(batches: Iterable[EventBatch], process: Process, path: Path) -> int:
    """Write the thinned calls, with the columns of events. Return the number of rows."""
    rows = 0
    with events_file(path) as write:
        for batch in batches:
            write(event_arrays(batch, process.start_ns, process.pid))
            rows += len(batch.start_ns)
    return rows


def write_untraced(sums: Mapping[str, Array], process: Process, path: Path) -> int:
    """Write what calls without a segment did over time. Return the number of rows."""
    with untraced_file(path) as write:
        write(untraced_arrays(sums, process.start_ns))
    return len(sums["calls"])


def write_faults(faults: EventBatch, process: Process, path: Path) -> int:
    """Write the page faults on mapped files, with the columns of events. Return the number of rows."""
    same = np.zeros(len(faults.start_ns), np.int8)
    with events_file(path) as write:
        kinds = (dictionary_array(same, [schema.FAULT]), dictionary_array(same, [schema.FAULT_MODULE]))
        write(_timed_arrays(faults, process.start_ns, process.pid, *kinds))
    return len(same)


def write_batches(columns: Mapping[str, Array], path: Path) -> int:
    """Write the batches of a process's input. Return the number of rows."""
    with parquet_file(path, schema.BATCH_COLUMNS, row_group=schema.EVENTS_ROW_GROUP) as write:
        write([number_array(columns[column.name]) for column in schema.BATCH_COLUMNS])
    return len(columns["batch"])


def write_steps(blocks: Iterable[Array], sources: Sequence[str], origin_ns: int, path: Path) -> int:
    """Write the steps of a session. Return the number of rows.

    Args:
        blocks: Structured arrays with the columns of `schema.MARK_COLUMNS`, times in ns since the epoch.
        sources: What the column `source` is a place in.
        origin_ns: When the session began, in ns since the epoch.
        path: The table's file.
    """
    rows = 0
    with parquet_file(path, schema.MARK_COLUMNS, row_group=schema.EVENTS_ROW_GROUP) as write:
        for block in blocks:
            columns = {column.name: block[column.name].astype(np.int64) for column in schema.MARK_COLUMNS}
            columns["start_ns"] -= origin_ns
            columns["end_ns"] -= origin_ns
            source = dictionary_array(columns.pop("source").astype(np.int8), sources)
            arrays = {name: number_array(values) for name, values in columns.items()} | {"source": source}
            write([arrays[column.name] for column in schema.MARK_COLUMNS])
            rows += len(block)
    return rows


def write_overview(overview: Overview, path: Path) -> int:
    """Write the overview table. Return the number of rows."""
    columns = overview.columns()
    with parquet_file(path, schema.OVERVIEW_COLUMNS, row_group=schema.OVERVIEW_ROW_GROUP) as write:
        write(
            [
                _operation_array(columns[c.name]) if c.name == "operation" else number_array(columns[c.name])
                for c in schema.OVERVIEW_COLUMNS
            ]
        )
    return len(columns["bin"])


def files_file(path: Path, *, row_group: int = schema.FILES_ROW_GROUP) -> Appending:
    """Return a function that appends rows to a files table, as `parquet_file` does."""
    return parquet_file(path, schema.files_columns(), row_group=row_group)


def events_file(path: Path) -> Appending:
    """Return a function that appends rows to an events table, as `parquet_file` does."""
    encodings = {"start_ns": DELTA, "end_ns": DELTA}
    return parquet_file(path, schema.EVENT_COLUMNS, row_group=schema.EVENTS_ROW_GROUP, encodings=encodings)


def untraced_file(path: Path) -> Appending:
    """Return a function that appends rows to a table of what untraced calls did, as `parquet_file` does."""
    return parquet_file(path, schema.UNTRACED_COLUMNS, row_group=schema.EVENTS_ROW_GROUP)


def untraced_arrays(sums: Mapping[str, Array], start_ns: int) -> list[Any]:
    """Return rows of such a table as one array per column; `start_ns` is added to their times."""
    moved = {name: sums[name] + start_ns for name in ("start_ns", "end_ns")}
    columns = {**sums, **moved}
    return [number_array(columns[column.name]) for column in schema.UNTRACED_COLUMNS]


@contextmanager
def parquet_file(
    path: Path,
    columns: Sequence[schema.Column],
    *,
    row_group: int,
    encodings: dict[str, str] | None = None,
    nullable: bool = False,
) -> Iterator[Callable[[list[Any]], None]]:
    """Yield a function that appends rows; the file gets its name when all of it is durable."""
    arrow_schema = pa.schema(
        [_field(column, nullable=nullable) for column in columns],
        metadata={"tfdarshan.schema_version": str(schema.SCHEMA_VERSION)},
    )
    dictionaries = [
        column.name for column in columns if column.dtype == "category" or column.name in REPEATING
    ]
    with durable_file(path) as file:
        writer = _open_writer(
            file,
            arrow_schema,
            compression="zstd",
            use_dictionary=dictionaries,
            column_encoding=encodings,
        )
        with closing(writer):
            groups = _RowGroups(writer, arrow_schema, row_group)
            yield groups.add
            groups.flush()


def _open_writer(file: BinaryIO, arrow_schema: pa.Schema, **options: Any) -> Any:
    """Return the writer that `pyarrow.parquet.ParquetWriter` wraps, or that one if pyarrow has changed.

    To import `pyarrow.parquet` takes longer than to write a small session: it brings remote file systems and
    TLS along.
    """
    try:
        from pyarrow._parquet import ParquetWriter

        return ParquetWriter(file, arrow_schema, **CHOICES, **options)
    except (ImportError, TypeError, ValueError, NotImplementedError):
        from pyarrow import parquet

        return parquet.ParquetWriter(file, arrow_schema, **CHOICES, **options)


class _RowGroups:
    """Gathers batches until they fill a row group.

    A group per batch would make a footer that takes longer to read than the columns a view asks for.
    """

    def __init__(self, writer: Any, arrow_schema: pa.Schema, rows: int) -> None:
        self._writer, self._schema, self._rows = writer, arrow_schema, rows
        self._held: list[pa.RecordBatch] = []

    def add(self, arrays: list[Any]) -> None:
        """Append rows, given as one array per column."""
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        if self._count() + len(batch) > self._rows:
            self.flush()
        self._held.append(batch)
        if self._count() >= self._rows:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            table = pa.Table.from_batches(self._held, self._schema)
            self._held = []
            self._writer.write_table(table, row_group_size=self._rows)

    def _count(self) -> int:
        return sum(map(len, self._held))


def file_arrays(
    batch: FileBatch, paths: list[str], pids: Array, host: str, mounts: Sequence[Mount]
) -> list[Any]:
    """Return rows of the files table as one array per column.

    Args:
        batch: The rows; `mount` counts `mounts`, and is -1 if it is unknown.
        paths: The path of each.
        pids: The process of each.
        host: Where all ran.
        mounts: Mount points.
    """
    known = np.where(batch.mount >= 0, batch.mount, len(mounts)).astype(np.int32)
    same = np.zeros(len(paths), np.int8)
    return [
        number_array(batch.file),
        text_array(paths),
        dictionary_array(batch.module.astype(np.int8), schema.FILE_MODULES),
        number_array(pids),
        dictionary_array(same, [host]),
        dictionary_array(known, [*(table_name(os.fsencode(mount.point)) for mount in mounts), ""]),
        dictionary_array(known, [*(mount.fs_type for mount in mounts), ""]),
        number_array(batch.size_bytes),
        *map(number_array, batch.counters),
        *map(number_array, batch.f_counters),
    ]


def event_arrays(batch: EventBatch, start_ns: int, pid: int) -> list[Any]:
    """Return rows of the events table as one array per column.

    Args:
        batch: The calls.
        start_ns: Added to their times.
        pid: The process of all, if the batch names none.
    """
    modules = np.array([schema.MODULES.index(op.module) for op in _bridge.operations()], np.int8)
    module = dictionary_array(modules[batch.operation], schema.MODULES)
    return _timed_arrays(batch, start_ns, pid, _operation_array(batch.operation.astype(np.int8)), module)


def _timed_arrays(batch: EventBatch, start_ns: int, pid: int, operation: Any, module: Any) -> list[Any]:
    return [
        number_array(batch.start_ns + start_ns),
        number_array(batch.end_ns + start_ns),
        number_array(np.full(len(batch.tid), pid, np.int32) if batch.pid is None else batch.pid),
        number_array(batch.tid),
        operation,
        module,
        number_array(batch.file),
        number_array(batch.offset),
        number_array(batch.length),
        number_array(batch.error),
        number_array(batch.flags),
    ]


def _operation_array(codes: Array) -> Any:
    return dictionary_array(codes, [operation.name for operation in _bridge.operations()])


def dictionary_array(codes: Array, values: Sequence[str]) -> Any:
    """Return a dictionary array; values that occur twice (two mounts of one type) are merged."""
    unique = list(dict.fromkeys(values))
    places = np.array([unique.index(value) for value in values], codes.dtype)
    return pa.DictionaryArray.from_arrays(number_array(places[codes]), text_array(unique))


def number_array(values: Array) -> Any:
    """Return an Arrow array without nulls; it shares the memory of `values` if that has no gaps.

    `pa.array()` would import pandas where it is installed, to ask it about the values.
    """
    values = np.ascontiguousarray(values)
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def text_array(values: Sequence[str]) -> Any:
    """Return an Arrow string array without nulls, and without pandas, as `number_array()` does."""
    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def _field(column: schema.Column, *, nullable: bool) -> Any:
    kinds = {"str": pa.string(), "float64": pa.float64()}
    if column.dtype == "category":
        index = pa.int32() if column.name in ("mount_point", "fs_type") else pa.int8()
        kind = pa.dictionary(index, pa.string())
    else:
        kind = kinds.get(column.dtype) or getattr(pa, column.dtype)()
    about = {key: value for key, value in (("unit", column.unit), ("meaning", column.meaning)) if value}
    return pa.field(column.name, kind, nullable=nullable, metadata=about)


def in_session_time(batch: FileBatch, start_ns: int) -> FileBatch:
    """Return a batch whose moments, as against durations, count from the session's start."""
    stamps = _stamps()
    moments = batch.f_counters[stamps]
    f_counters = batch.f_counters.copy()
    f_counters[stamps] = moments + np.where(moments != 0, start_ns / 1e9, 0)
    return dataclasses.replace(batch, f_counters=f_counters)


@lru_cache(maxsize=1)
def _stamps() -> Array:
    return np.array(["TIMESTAMP" in column.name for column in schema.f_counter_columns()])
