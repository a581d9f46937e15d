"""Reads one process's part of a session, and says clearly what is wrong with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.native import _bridge
from tfdarshan.sessions import schema
from tfdarshan.sessions.event_groups import TIMES, GroupSpan, groups_within, opened_events, span_of
from tfdarshan.sessions.gathered_processes import LIST, gathered_metas
from tfdarshan.sessions.opened_table import arrow_errors, opened_table, read_groups, worth_threads
from tfdarshan.sessions.session_directory import META_SUFFIX
from tfdarshan.sessions.shared_table import shared_columns, shared_rows
from tfdarshan.sessions.table_check import check_columns, check_values, sound_values
from tfdarshan.sessions.whole_file import JSON_GROWTH, TooLargeError, read_whole

if TYPE_CHECKING:
    from tfdarshan.sessions.meta_shape import LogShape

# Tables whose times move with their process's clock.
TIMED = ("events", "thinned", "untraced", "faults", "steps", "files", "batches")
TIMES_OF_CALLS = ("start_ns", "end_ns")
# Of batches, below 0 if unknown.
TIMES_OF_BATCHES = ("request_ns", "arrival_ns", "fetch_start_ns", "fetch_end_ns")


@dataclass(frozen=True)
class ProcessData:
    """One process's metadata and where its tables are.

    Attributes:
        directory: Where its files are.
        meta: Its metadata.
        shift_ns: Added to the times of its events when they are read; 0, but in a session of several ranks.
        clock: What tells the clock it was recorded by from others, in a session of several ranks.
        clock_error_ns: By how much its times may be off those of another clock, None if that is not known.
        rank: The rank that it belongs to, in a session of several ranks.
    """

    directory: Path
    meta: dict[str, Any]
    shift_ns: int = 0
    clock: str = ""
    clock_error_ns: int | None = 0
    rank: int | None = None

    @property
    def pid(self) -> int:
        """The process's id."""
        return int(self.meta["pid"])

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The kinds of call that the tables name; those known here if the metadata does not say."""
        declared: list[dict[str, Any]] | None = self.meta.get("operations")
        return declared or [dataclasses.asdict(operation) for operation in _bridge.operations()]

    def table_path(self, table: str) -> Path:
        """Return the path of table "files", "events", "overview", or of one that not all processes have."""
        return self.directory / str(self.meta["tables"][table]["file"])

    def table(self, table: str, columns: Sequence[str] | None = None) -> Any:
        """Read a table, or some of its columns, as a pyarrow table.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        if self._is_shared(table):
            return _table_of(self._shared_rows(table, columns))
        path = self.table_path(table)
        try:
            with opened_table(path) as file:
                check_columns(table, file.schema_arrow, columns)
                groups = range(file.metadata.num_row_groups)
                found = read_groups(file, groups, None if columns is None else list(columns))
            return self._believed(table, found)
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def batches(self, table: str, columns: Sequence[str] | Callable[[str], bool]) -> Iterator[Any]:
        """Read columns of a table as pyarrow record batches, one per row group.

        Most counters of most files are 0: a column that holds one number in a whole row group, by the
        group's statistics, is not read but made.

        Args:
            table: Its name.
            columns: Their names, or what says of a column that the table has whether it is wanted.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        if self._is_shared(table):
            yield from _any_rows(self._shared_rows(table, columns))
            return
        path = self.table_path(table)
        try:
            with opened_table(path) as file:
                declared = file.schema_arrow
                wanted = list(filter(columns, declared.names)) if callable(columns) else columns
                check_columns(table, declared, wanted)
                fields = [declared.field(name) for name in wanted]
                places = {name: place for place, name in enumerate(declared.names)}
                for group in range(file.metadata.num_row_groups):
                    for batch in _group_batches(file, group, fields, places):
                        yield self._believed(table, batch)
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def event_batches(
        self, columns: Sequence[str], windows_ns: Sequence[tuple[int, int]] | None = None
    ) -> Iterator[Any]:
        """Read columns of the events table as pyarrow record batches.

        Args:
            columns: Their names.
            windows_ns: Only row groups with calls that were running within one of these, (from, until).

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        if self._is_shared("events"):
            yield from _any_rows(self._shared_rows("events", columns))
            return
        path = self.table_path("events")
        try:
            with opened_events(path, columns) as (file, spans):
                metadata = file.metadata
                groups = groups_within(spans, _earlier(windows_ns, self.shift_ns))
                found = [_row_group(file, group, columns) for group in groups[:1]]
            # Many processes are read side by side: none keeps its file open from one batch to the next.
            for group in groups:
                if not found:
                    with opened_table(path, metadata) as file:
                        found = [_row_group(file, group, columns)]
                rows = found.pop()
                yield from self._believed("events", rows).combine_chunks().to_batches()
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def event_group_spans(self) -> list[GroupSpan]:
        """Return when the calls of each row group of the events table ran, by its statistics.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        if self._is_shared("events"):
            return [span_of(rows) for rows in _any_rows(self._shared_rows("events", TIMES))]
        path = self.table_path("events")
        try:
            with opened_events(path) as (_, spans):
                pass
        except arrow_errors() as error:
            raise _damaged(path, error) from error
        return [span.later(self.shift_ns) for span in spans] if self.shift_ns else list(spans)

    def rows(self, table: str) -> int:
        """Count the rows of a table.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        if self._is_shared(table):
            return int(self.meta["tables"][table]["rows"])
        path = self.table_path(table)
        try:
            with opened_table(path) as file:
                return int(file.metadata.num_rows)
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def columns(self, table: str) -> list[str]:
        """Name a table's columns.

        Raises:
            SessionDataError: It is damaged or missing.
        """
        path = self.table_path(table)
        try:
            if self._is_shared(table):
                return shared_columns(table, path)
            with opened_table(path) as file:
                return list(file.schema_arrow.names)
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def check_tables(self) -> None:
        """Read all of all tables once.

        Raises:
            SessionDataError: One is damaged or missing.
        """
        for table in self.meta["tables"]:
            if self._is_shared(table):
                self._shared_rows(table, None)
                continue
            path = self.table_path(table)
            try:
                with opened_table(path) as file:
                    check_columns(table, file.schema_arrow)
                    size, threads = schema.FILES_ROW_GROUP, worth_threads(file.metadata)
                    groups = range(file.metadata.num_row_groups)
                    for batch in file.batches(groups, batch_size=size, use_threads=threads):
                        self._believed(table, batch)
            except arrow_errors() as error:
                raise _damaged(path, error) from error

    def _is_shared(self, table: str) -> bool:
        return self.meta["tables"][table].get("first") is not None

    def _shared_rows(self, table: str, columns: Sequence[str] | Callable[[str], bool] | None) -> Any:
        """Return its rows of a table that it shares with other processes, as a record batch."""
        path, about = self.table_path(table), self.meta["tables"][table]
        try:
            found = shared_rows(table, path, about["first"], about.get("rows", 0), columns)
            return self._believed(table, found)
        except arrow_errors() as error:
            raise _damaged(path, error) from error

    def _believed(self, table: str, found: Any) -> Any:
        """Return what was read of a table on the session's clock, unknown where a number is none.

        Raises:
            Exception: One of `arrow_errors`, if it has what no session has.
        """
        check_values(table, found, self._operation_names(), self._files())
        sound = sound_values(found)
        return _later(sound, self.shift_ns) if table in TIMED else sound

    def _files(self) -> int:
        return int(self.meta["counts"]["files"])

    def _operation_names(self) -> frozenset[str]:
        return frozenset(operation["name"] for operation in self.operations)


def read_process(meta_path: Path) -> ProcessData:
    """Read a process's metadata, every field of it checked.

    Raises:
        SessionDataError: It is damaged, or written by a newer version.
    """
    from tfdarshan.sessions.checked_json import decode_json

    with _worded(meta_path):
        return _checked(meta_path, decode_json(read_whole(meta_path, growth=JSON_GROWTH)))


def read_gathered(directory: Path) -> list[ProcessData]:
    """Return the processes of a session whose metadata and tables are together, checked as any other's.

    Raises:
        SessionDataError: They are damaged, or written by a newer version.
    """
    path = directory / LIST
    with _worded(path):
        return [_checked(path, meta) for meta in gathered_metas(directory)]


def _checked(path: Path, meta: dict[str, Any]) -> ProcessData:
    from tfdarshan.sessions.checked_json import check
    from tfdarshan.sessions.meta_shape import MetaShape, SchemaShape

    version = check(meta, SchemaShape).schema_version
    if version > schema.SCHEMA_VERSION:
        raise SessionDataError(
            f"{path} has schema version {version} and this tfdarshan reads up to "
            f"{schema.SCHEMA_VERSION}: upgrade with `pip install -U tfdarshan`."
        )
    _check_log(check(meta, MetaShape).darshan)
    _check_names(path, meta["tables"])
    return ProcessData(path.parent, meta)


@contextmanager
def _worded(path: Path) -> Iterator[None]:
    """Say in a sentence why metadata cannot be read."""
    from tfdarshan.sessions.checked_json import DecodingError, NotJsonError

    try:
        yield
    except OSError as error:
        raise SessionDataError(f"{path} cannot be read: {reason(error)}.") from error
    except NotJsonError as error:
        raise SessionDataError(f"{path} is damaged: {error}; {_rest(path)}.") from error
    except DecodingError as error:
        raise SessionDataError(
            f"{path} is damaged: as a session's metadata, {error}; {_rest(path)}."
        ) from error


def _check_log(log: LogShape | None) -> None:
    from tfdarshan.sessions.checked_json import DecodingError

    if log is None:
        return
    if len(log.ranks) != len(log.pids):
        raise DecodingError("it has not as many darshan.pids as darshan.ranks")
    if any(record >> 64 for record in log.records.values()):
        raise DecodingError("expected int < 2**64 at darshan.records")


def _check_names(meta_path: Path, tables: Any) -> None:
    """Refuse tables that are not beside their metadata: a copied session may come from anybody."""
    try:
        names = [about["file"] for about in tables.values()]
    except (KeyError, TypeError):
        names = [None]
    if not all(isinstance(name, str) and name and Path(name).name == name for name in names):
        raise SessionDataError(f"{meta_path} is damaged: it names tables outside of its folder.")


def _table_of(rows: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([rows])


def _any_rows(rows: Any) -> list[Any]:
    """Return a record batch, if it has rows."""
    return [rows] if rows.num_rows else []


def _row_group(file: Any, group: int, columns: Sequence[str]) -> Any:
    """Read a row group; of a large one a column of one number, as a process's id, is made."""
    import pyarrow as pa

    large = worth_threads(file.metadata.row_group(group))
    declared, about = file.schema_arrow, file.metadata.row_group(group)
    places = {name: place for place, name in enumerate(declared.names)} if large else {}
    same = _constants(about, places, list(columns)[1:])
    found = file.read([group], [name for name in columns if name not in same], use_threads=large)
    for name, number in same.items():
        field = declared.field(name)
        found = found.append_column(field, pa.repeat(pa.scalar(number, field.type), about.num_rows))
    return found.select(list(columns)) if same else found


def _group_batches(file: Any, group: int, fields: list[Any], places: dict[str, int]) -> Iterator[Any]:
    """Yield a row group's columns as record batches; those of one number are made, not read.

    Columns are flat: a name's place in the schema is that in the file.
    """
    import pyarrow as pa

    # One column is read in any case: it says how many rows there are.
    same = _constants(file.metadata.row_group(group), places, [field.name for field in fields[1:]])
    made: dict[tuple[float, Any], Any] = {}

    def column(batch: Any, field: Any) -> Any:
        if field.name not in same:
            return batch.column(field.name)
        key = same[field.name], field.type
        if key not in made:
            made[key] = pa.repeat(pa.scalar(*key), batch.num_rows)
        return made[key].slice(0, batch.num_rows)

    read = [field.name for field in fields if field.name not in same]
    threads = worth_threads(file.metadata.row_group(group))
    for batch in file.batches([group], read, batch_size=schema.FILES_ROW_GROUP, use_threads=threads):
        yield pa.RecordBatch.from_arrays([column(batch, field) for field in fields], schema=pa.schema(fields))


def _later(found: Any, shift_ns: int) -> Any:
    """Return a table or record batch with its times moved."""
    if not shift_ns:
        return found
    columns = [
        _moved(name, column, shift_ns) for name, column in zip(found.schema.names, found.columns, strict=True)
    ]
    return type(found).from_arrays(columns, schema=found.schema)


def _moved(name: str, column: Any, shift_ns: int) -> Any:
    """Return a column, moved if it is one of times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in TIMES_OF_CALLS:
        return pc.add(column, pa.scalar(shift_ns, pa.int64()))
    if name in TIMES_OF_BATCHES:
        return pc.if_else(pc.less(column, 0), column, pc.add(column, pa.scalar(shift_ns, pa.int64())))
    if name.endswith(schema.STAMP_SUFFIX):
        return pc.if_else(pc.equal(column, 0), column, pc.add(column, pa.scalar(shift_ns / 1e9, column.type)))
    return column


def _earlier(windows_ns: Sequence[tuple[int, int]] | None, shift_ns: int) -> Sequence[tuple[int, int]] | None:
    if not windows_ns or not shift_ns:
        return windows_ns
    return [(from_ns - shift_ns, until_ns - shift_ns) for from_ns, until_ns in windows_ns]


def _constants(group: Any, places: dict[str, int], columns: Sequence[str]) -> dict[str, float]:
    """Return the number of each column that has only one in a row group, and no null."""
    same = {}
    for name in columns:
        found = group.column(places[name]).statistics if name in places else None
        if found is None or found.physical_type not in ("INT32", "INT64", "DOUBLE") or not found.has_min_max:
            continue
        if found.null_count == 0 and found.min == found.max:
            same[name] = found.max
    return same


def _damaged(path: Path, error: Exception) -> SessionDataError:
    what = f"is damaged ({reason(error)})"
    if isinstance(error, FileNotFoundError):
        what = "is missing"
    elif isinstance(error, TooLargeError) or getattr(error, "errno", None) is not None:
        what = f"cannot be read ({reason(error)})"
    return SessionDataError(f"{path} {what}: {_rest(path)}.")


def _rest(path: Path) -> str:
    """Describe what of the session can be read without a file of it."""
    if len(list(path.parent.glob(f"*{META_SUFFIX}"))) > 1 or (path.parent / LIST).exists():
        return "the session's other processes can be read with skip_damaged (--skip-damaged)"
    return "the session has no other processes, so nothing of it can be read"
