"""The files of all processes, one row per path: what was done with each, from the exact counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.counter_groups import (
    BYTES_READ,
    BYTES_WRITTEN,
    META_TIMES,
    MOVES,
    NO_OPENS,
    OPENS,
    READ_TIMES,
    READS,
    WRITE_TIMES,
    WRITES,
)
from tfdarshan.analysis.files.file_batches import FileBatch, file_batches
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.sessions.process_data import ProcessData

# Each column of the table and the counters that it adds up, and those that it takes off again.
SUMS: dict[str, tuple[str, ...]] = {
    "opens": OPENS,
    "reads": READS,
    "zero_reads": ("TFD_ZERO_READS",),
    "writes": WRITES,
    "stats": ("POSIX_STATS", "TFD_STATS_OTHER"),
    "bytes_read": BYTES_READ,
    "bytes_written": BYTES_WRITTEN,
    "moves": MOVES,
    "renames": ("TFD_RENAMES",),
    "read_s": READ_TIMES,
    "write_s": WRITE_TIMES,
    "meta_s": META_TIMES,
}
LESS: dict[str, tuple[str, ...]] = {"opens": NO_OPENS}
SECONDS = ("read_s", "write_s", "meta_s")
# What is added up over the rows of a path. A row adds one opener, or all ranks that share it.
ADDED = (*SUMS, "openers")
COLUMNS = ("path", "mount_point", "fs_type", "size_bytes", *ADDED, "time_s")
NO_FILE = 0
# The rank of a log's records that all ranks share.
SHARED_RANK = -1
# What an array of texts with offsets of 32 bits holds.
MOST_BYTES = 1 << 31
TEXTS = ("path", "mount_point", "fs_type")
# What is read of the files tables; a log lacks some.
WANTED = frozenset(
    (*TEXTS, "file", "size_bytes", *(name for sums in (*SUMS.values(), *LESS.values()) for name in sums))
)


@dataclass(frozen=True)
class FileTable:
    """What was done with each path.

    Attributes:
        rows: One row per path, over all processes and modules. `path` (str), `mount_point` and `fs_type`
            (category); `size_bytes` (int64, the largest seen, -1 if unknown); `opens`, `reads`, of which
            `zero_reads`, `writes`, `stats` (int64, calls); `bytes_read`, `bytes_written` (int64, bytes);
            `moves` (int64), times that it was renamed, replaced by a renamed file, or deleted; `renames`
            (int64), times that it was renamed;
            `read_s`, `write_s`, `meta_s` and their sum `time_s` (float64, seconds in calls on the file:
            calls of one kind in one process at the same time count once); `openers` (int64), the processes
            that opened it: all ranks of a log where they share its record, and one that opened it through
            both POSIX and STDIO twice. Row 0 is "(no file)".
        index: Per process, the row of each of its file ids, int32.
    """

    rows: pd.DataFrame
    index: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def paths(self) -> Any:
        """The paths as a pyarrow array."""
        return pa.array(self.rows["path"])


@dataclass(frozen=True)
class GroupedFiles:
    """What groups of processes did with each path, such as those of a rank.

    Attributes:
        paths: Each path once, a pyarrow array; the first is "(no file)".
        path: Of each row the place of its path in `paths`, int64.
        columns: Per column of COLUMNS but `path` an entry of each row, as in `FileTable.rows`.
        bounds: Where each group's rows begin, and where the last one's end, int64.
    """

    paths: Any
    path: Array
    columns: dict[str, Any]
    bounds: Array

    def rows_of(self, group: int) -> slice:
        """Return which rows are a group's."""
        return slice(*self.bounds[group : group + 2].tolist())

    def chosen(self, rows: Array) -> GroupedFiles:
        """Return some of the rows; `rows` is bool, one per row."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        bounds = np.append(0, np.cumsum(rows))[self.bounds]
        return GroupedFiles(self.paths, self.path[rows], columns, bounds)


def load_files(processes: Sequence[ProcessData]) -> FileTable:
    """Read the files tables. What an imported log does not say counts as 0.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    rows = FileRows(processes)
    for batch in file_batches(processes, WANTED.__contains__):
        rows.add(batch)
    return rows.table()


def merge_files(tables: Sequence[FileTable]) -> tuple[FileTable, tuple[Array, ...]]:
    """Add up the tables of several sessions by path.

    Returns:
        The table, without an index, and for each of `tables` the places of its rows in it.
    """
    if len(tables) == 1:
        return tables[0], (np.arange(len(tables[0])),)
    encoded = pa.chunked_array([pa.array(table.paths).cast(pa.large_string()) for table in tables])
    encoded = encoded.combine_chunks().dictionary_encode()
    paths, code = encoded.dictionary, encoded.indices.to_numpy()
    columns: dict[str, Any] = {"path": pd.Series(pd.arrays.ArrowExtensionArray(paths))}
    rows = [table.rows for table in tables]
    for name in ("mount_point", "fs_type"):
        parts = [[pa.array(part[name])] for part in rows]
        columns[name] = _category(parts, code, len(paths))
    columns["size_bytes"] = np.full(len(paths), -1, np.int64)
    np.maximum.at(columns["size_bytes"], code, np.concatenate([part["size_bytes"] for part in rows]))
    for name in (*ADDED, "time_s"):
        values = np.concatenate([part[name].to_numpy() for part in rows])
        columns[name] = _added(code, values, len(paths), values.dtype.type)
    places = np.split(code, np.cumsum([len(table) for table in tables])[:-1])
    return FileTable(pd.DataFrame(columns, copy=False), ()), tuple(places)


class FileRows:
    """Takes the files tables batch by batch, and makes one table of them.

    Args:
        processes: Whose tables they are.
    """

    def __init__(self, processes: Sequence[ProcessData]) -> None:
        self._kept: list[dict[str, list[Any]]] = [{} for _ in processes]
        self._openers = [_openers_of_a_row(process) for process in processes]

    def add(self, batch: FileBatch) -> None:
        """Add rows; the batch has those columns of WANTED that its tables have."""
        found = self._values(batch.rows)
        for place, rows in batch.parts:
            kept = self._kept[place]
            for name in TEXTS:
                kept.setdefault(name, []).append(found[name].slice(rows.start, rows.stop - rows.start))
            for name in ("file", "size_bytes", *SUMS):
                kept.setdefault(name, []).append(found[name][rows])
            kept.setdefault("openers", []).append((found["opens"][rows] > 0) * self._openers[place])

    @staticmethod
    def _values(batch: Any) -> dict[str, Any]:
        """Return the columns of rows; texts are pyarrow arrays."""
        present = set(batch.schema.names)
        found = {name: batch.column(name) for name in TEXTS}
        found |= {name: _numbers(batch.column(name)) for name in ("file", "size_bytes")}
        for name, counters in SUMS.items():
            values = np.zeros(batch.num_rows, np.float64 if name in SECONDS else np.int64)
            added = [_numbers(batch.column(counter)) for counter in present.intersection(counters)]
            # Zeros that nothing was added to take no memory.
            for numbers in filter(np.any, added):
                # Time below 0, of a log whose clock was set back, is no time.
                values += np.maximum(numbers, 0) if name in SECONDS else numbers
            for counter in present.intersection(LESS.get(name, ())):
                values -= _numbers(batch.column(counter))
            found[name] = values
        return found

    def of_first(self, count: int) -> FileRows:
        """Return the rows of the first processes, which stay here, too."""
        found = FileRows(())
        found._kept, found._openers = [dict(kept) for kept in self._kept[:count]], self._openers[:count]
        return found

    def table(self) -> FileTable:
        """Return the table; no row can be added any more."""
        tables = [self._columns(kept) for kept in self._kept]
        paths, code = _coded(tables)
        place = np.split(code, np.cumsum([len(table["file"]) for table in tables])[:-1])
        columns: dict[str, Any] = {"path": pd.Series(pd.arrays.ArrowExtensionArray(paths))}
        columns |= _merged(tables, code, len(paths))
        index = tuple(_index(table["file"], rows) for table, rows in zip(tables, place, strict=True))
        return FileTable(pd.DataFrame(columns, copy=False), index)

    def by_group(self, counts: Sequence[int]) -> GroupedFiles:
        """Return a row per group and path; no row can be added any more.

        Args:
            counts: How many processes each group has, one group after the other.
        """
        tables = [self._columns(kept) for kept in self._kept]
        paths, code = _coded(tables)
        of_process = np.repeat(np.arange(len(counts)), counts)
        group = np.repeat(of_process, [len(table["file"]) for table in tables])
        keys, row = np.unique(group * len(paths) + code, return_inverse=True)
        bounds = np.searchsorted(keys, np.arange(len(counts) + 1) * len(paths))
        return GroupedFiles(paths, keys % len(paths), _merged(tables, row, len(keys)), bounds)

    @staticmethod
    def _columns(kept: dict[str, list[Any]]) -> dict[str, Any]:
        """Return one process's columns; texts are lists of pyarrow arrays."""
        empty: list[Any] = [np.zeros(0, np.int64)]
        return {
            name: kept.pop(name, []) if name in TEXTS else _joined(kept.pop(name, empty))
            for name in (*TEXTS, "file", "size_bytes", *ADDED)
        }


def _openers_of_a_row(process: ProcessData) -> int:
    """Return how many processes opened a file that a row of this one's table opened.

    Source: Darshan reduces a record to one of rank -1 only if all ranks have it.
    """
    log = process.meta.get("darshan") or {}
    return int(log["processes"]) if log.get("rank") == SHARED_RANK else 1


def _coded(tables: Sequence[dict[str, Any]]) -> tuple[Any, Array]:
    """Return the paths, "(no file)" first, and each row's place among them.

    A process's files have a number each: of one that lists them in order no name has to be looked at.
    """
    chunks = [
        pa.array([PATHS_OF_NO_FILE[NO_FILE]]),
        *(path for table in tables for path in table.pop("path")),
    ]
    wide = sum(chunk.nbytes for chunk in chunks) >= MOST_BYTES
    names = pa.chunked_array(chunks if not wide else [chunk.cast(pa.large_string()) for chunk in chunks])
    file = tables[0]["file"].astype(np.int64)
    if len(tables) == 1 and len(file) and file[0] != NO_FILE and (file[1:] >= file[:-1]).all():
        first = np.append(True, file[1:] != file[:-1])
        if not first.all():
            names = names.filter(pa.array(np.append(True, first)))
        return names.combine_chunks(), np.cumsum(first, dtype=np.int32)
    encoded = names.combine_chunks().dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()[1:]


def _merged(tables: Sequence[dict[str, Any]], code: Array, count: int) -> dict[str, Any]:
    """Return the columns but the path of `count` rows, where `code` says to which one each row belongs."""
    columns: dict[str, Any] = {
        name: _category([table[name] for table in tables], code, count) for name in ("mount_point", "fs_type")
    }
    columns["size_bytes"] = _largest(np.concatenate([table["size_bytes"] for table in tables]), code, count)
    for name in ADDED:
        dtype = np.float64 if name in SECONDS else np.int64
        columns[name] = _added(code, _joined([table.pop(name) for table in tables]), count, dtype)
    columns["time_s"] = columns["read_s"] + columns["write_s"] + columns["meta_s"]
    return columns


def _joined(parts: list[Array]) -> Array:
    """Join arrays; zeros take no memory."""
    if len(parts) == 1:
        return parts[0]
    if not any(part.any() for part in parts):
        return np.zeros(sum(map(len, parts)), parts[0].dtype)
    return np.concatenate(parts)


def _numbers(column: Any) -> Array:
    return (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)


def _category(parts: list[list[Any]], code: Array, paths: int) -> pd.Categorical:
    """Return the value that a path's last row has."""
    chunks = [chunk for chunks in parts for chunk in chunks]
    kind = pa.dictionary(pa.int32(), pa.string())
    column = pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind).unify_dictionaries()
    values = column.chunk(0).dictionary.to_pylist() if chunks else []
    categories = ["", *(value for value in values if value)]
    known = np.array([categories.index(value or "") for value in values] or [0], np.int32)
    found = np.zeros(paths, np.int32)
    if chunks:
        found[code] = known[np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])]
    return pd.Categorical.from_codes(found, categories)


def _added(code: Array, values: Array, paths: int, dtype: type) -> Array:
    """Add up by path; a sum that is 0 everywhere takes no memory."""
    if not values.any():
        return np.zeros(paths, dtype)
    if len(code) + 1 == paths and code[0] == 1 and (code[1:] > code[:-1]).all():
        added: Array = np.zeros(paths, dtype)
        added[1:] = values
        return added
    return np.bincount(code, values, minlength=paths).astype(dtype, copy=False)


def _largest(size_bytes: Array, code: Array, paths: int) -> Array:
    largest = np.full(paths, -1, np.int64)
    if len(code) + 1 == paths:
        largest[code] = size_bytes
    else:
        np.maximum.at(largest, code, size_bytes)
    return largest


def _index(file: Array, rows: Array) -> Array:
    index = np.zeros(int(file.max()) + 1 if len(file) else 1, np.int32)
    index[file] = rows
    return index
