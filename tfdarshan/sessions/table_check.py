"""Say what is wrong with a table that Parquet can read, but that is not what a session has."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from tfdarshan.sessions import schema
from tfdarshan.units import plural

# Ids count a process's files. Tables by id are as long as the largest: one beyond this is damage.
MOST_IDS_PER_FILE, SPARE_IDS = 2, 1 << 16


class TableError(ValueError):
    """A table's columns or values are not those of a session."""


def check_columns(table: str, found: Any, wanted: Collection[str] | None = None) -> None:
    """Look at a table's columns before they are read.

    Args:
        table: A name of `_columns`, or another one, of which nothing is known.
        found: Its pyarrow schema.
        wanted: The columns that are to be read, None for all.

    Raises:
        TableError: One is missing, there twice, or of another type.
    """
    names, declared = found.names, _dtypes(table)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"it has the column {twice} twice")
    missing = [name for name in (*_always(table), *(wanted or ())) if name not in names]
    if missing:
        raise TableError(f"it has no column {missing[0]}")
    for name in wanted or names:
        kind = found.field(name).type
        if name in declared and not _fits(kind, declared[name]):
            raise TableError(f"its column {name} is of type {kind}, not {declared[name]}")


def check_values(table: str, found: Any, operations: Collection[str], files: int) -> None:
    """Look at what was read of a table.

    Args:
        table: A name of `_columns`, or another one, of which nothing is known.
        found: A pyarrow table or record batch.
        operations: The kinds of call that the metadata declares.
        files: How many files it counts.

    Raises:
        TableError: A value is missing, of a kind of call that is not declared, or the id of no file.
        pyarrow.ArrowInvalid: Text is not UTF-8, or there is none for a code.
    """
    always = _always(table)
    for name in found.schema.names:
        dtype, column = _dtypes(table).get(name), found.column(name)
        if name in always and column.null_count:
            raise TableError(f"its column {name} lacks values")
        if dtype in ("str", "category"):
            column.validate(full=True)
        if name == "operation":
            _check_operations(column, (schema.FAULT,) if table == "faults" else operations)
        if name == "file" and name in always:
            _check_files(column, files)


def sound_values(found: Any) -> Any:
    """Return a pyarrow table or record batch without numbers that are none, and times that are no time.

    A writer that was damaged, or none of ours, may leave them. They are null, as what was not counted.
    """
    columns = [_sound(field, column) for field, column in zip(found.schema, found.columns, strict=True)]
    return type(found).from_arrays(columns, schema=found.schema)


def _sound(field: Any, column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(field.type):
        return column
    sound = pc.less(pc.abs(column), schema.limit_of(field.name))
    return column if pc.all(sound).as_py() is not False else pc.if_else(sound, column, None)


def _check_operations(column: Any, declared: Collection[str]) -> None:
    for chunk in getattr(column, "chunks", [column]):
        for name in chunk.dictionary.to_pylist():
            if name not in declared:
                raise TableError(f"it has calls {name!r}, which the metadata does not declare")


def _check_files(column: Any, files: int) -> None:
    chunks = getattr(column, "chunks", [column])
    largest = max((int(chunk.to_numpy().max(initial=0)) for chunk in chunks), default=0)
    if largest > MOST_IDS_PER_FILE * files + SPARE_IDS:
        raise TableError(f"it has a file of id {largest:,}, and the metadata counts {plural(files, 'file')}")


@lru_cache(maxsize=8)
def _dtypes(table: str) -> dict[str, str]:
    columns: tuple[schema.Column, ...] = _columns(table)
    if table == "files":
        columns = schema.files_columns()
    elif table == "layers":
        columns = schema.LAYER_COLUMNS
    elif table == "steps":
        columns = schema.MARK_COLUMNS
    return {column.name: column.dtype for column in columns}


@lru_cache(maxsize=8)
def _always(table: str) -> tuple[str, ...]:
    """Return the columns that a table has whatever version wrote it, and in which every value is known."""
    return tuple(column.name for column in _columns(table))


def _columns(table: str) -> tuple[schema.Column, ...]:
    known = {
        "files": schema.FILE_COLUMNS, "events": schema.EVENT_COLUMNS, "faults": schema.EVENT_COLUMNS,
        "thinned": schema.EVENT_COLUMNS, "untraced": schema.UNTRACED_COLUMNS,
        "overview": schema.OVERVIEW_COLUMNS, "batches": schema.BATCH_COLUMNS,
        "steps": schema.FIRST_MARK_COLUMNS,
    }  # fmt: skip
    return known.get(table, ())


def _fits(kind: Any, dtype: str) -> bool:
    import pyarrow as pa

    if dtype == "category":
        return bool(pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
    return str(kind) == {"str": "string", "float64": "double"}.get(dtype, dtype)
