"""A table of many processes: each has some of its rows. Row groups that were read last stay in memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from tfdarshan.sessions.opened_table import opened_table, read_groups
from tfdarshan.sessions.table_check import TableError, check_columns

# Some MB each. Processes are read in their order, and of each a few sets of columns.
KEPT = 8


@dataclass(frozen=True)
class _Source:
    """A table's file as it is now: a file that was replaced is another one."""

    table: str
    path: Path
    device: int
    inode: int
    size: int
    changed_ns: int


@dataclass(frozen=True)
class _Footer:
    """The columns' names, and each row group's first row; the last entry of `first` is the number of rows."""

    names: tuple[str, ...]
    first: tuple[int, ...]


def shared_rows(
    table: str, path: Path, first: int, count: int, columns: Sequence[str] | Callable[[str], bool] | None
) -> Any:
    """Return some rows as a pyarrow record batch.

    Args:
        table: "files" or "events".
        path: The file.
        first: The first row.
        count: How many.
        columns: Their names, or what says of a column whether it is wanted; None for all.

    Raises:
        Exception: One of `arrow_errors`, if it is damaged, missing, or has not so many rows.
    """
    source = _source(table, path)
    footer = _footer(source)
    if first + count > footer.first[-1]:
        raise TableError(f"it has {footer.first[-1]:,} rows, and the metadata name row {first + count:,}")
    group = max(bisect_right(footer.first, first) - 1, 0)
    groups = tuple(range(group, bisect_left(footer.first, first + count)))
    found = _groups(source, groups, _wanted(footer.names, columns))
    return found.slice(first - footer.first[group], count)


def shared_columns(table: str, path: Path) -> list[str]:
    """Return the columns' names.

    Raises:
        Exception: One of `arrow_errors`, if the table is damaged or missing.
    """
    return list(_footer(_source(table, path)).names)


def _wanted(names: tuple[str, ...], columns: Sequence[str] | Callable[[str], bool] | None) -> tuple[str, ...]:
    if columns is None:
        return names
    return tuple(filter(columns, names)) if callable(columns) else tuple(columns)


def _source(table: str, path: Path) -> _Source:
    found = path.stat()
    return _Source(table, path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=KEPT)
def _footer(source: _Source) -> _Footer:
    with opened_table(source.path) as file:
        check_columns(source.table, file.schema_arrow)
        groups = range(file.metadata.num_row_groups)
        rows = accumulate((file.metadata.row_group(group).num_rows for group in groups), initial=0)
        return _Footer(tuple(file.schema_arrow.names), tuple(rows))


@lru_cache(maxsize=KEPT)
def _groups(source: _Source, groups: tuple[int, ...], columns: tuple[str, ...]) -> Any:
    with opened_table(source.path) as file:
        check_columns(source.table, file.schema_arrow, columns)
        return _one_batch(read_groups(file, groups, list(columns)).select(columns))


def _one_batch(table: Any) -> Any:
    import pyarrow as pa

    whole = table.unify_dictionaries().combine_chunks()
    columns = [
        column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in whole.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=whole.schema)
