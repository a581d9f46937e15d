"""Opens one Parquet file of a session."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.sessions.table_room import check_groups, check_read
from tfdarshan.sessions.whole_file import open_regular

DESCRIPTORS = "/proc/self/fd"
# Rows from which on it is quicker to hand columns to threads than to read them one after the other.
WORTH_THREADS = 10_000


@dataclass(frozen=True)
class OpenedTable:
    """A table, of which no more is read than the free memory holds.

    Attributes:
        source: The file for Arrow.
        file: The same as a `ParquetFile`.
    """

    source: Any
    file: Any

    @property
    def metadata(self) -> Any:
        """Its footer."""
        return self.file.metadata

    @property
    def schema_arrow(self) -> Any:
        """Its columns."""
        return self.file.schema_arrow

    def read(self, groups: Sequence[int], columns: Sequence[str] | None = None, **options: Any) -> Any:
        """Return row groups as a pyarrow table, as `read_row_groups()` does.

        Raises:
            Exception: One of `arrow_errors`, if they are damaged or take more memory than is free.
        """
        check_read(self.source, self.file, groups, columns)
        return self.file.read_row_groups(list(groups), columns=columns, **options)

    def batches(
        self, groups: Sequence[int], columns: Sequence[str] | None = None, **options: Any
    ) -> Iterator[Any]:
        """Yield row groups one by one as record batches, as `iter_batches()` does.

        Raises:
            Exception: One of `arrow_errors`, if one is damaged or takes more memory than is free.
        """
        for group in groups:
            check_read(self.source, self.file, [group], columns)
            yield from self.file.iter_batches(row_groups=[group], columns=columns, **options)


@contextmanager
def native_file(path: Path) -> Iterator[Any]:
    """Yield a file for Arrow that is none of Python's.

    A thread of Arrow's may hold the last reference to a file of Python's while the interpreter ends, which
    ends the process with "terminate called without an active exception". Arrow takes a path that is text for
    UTF-8, and leaves the file to be inherited by the programs that a job starts: it is given the name of a
    descriptor, and the flag is set once it has opened that.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be opened.
    """
    import pyarrow as pa

    with open_regular(path) as opened:
        likely = os.dup(opened.fileno())
        os.close(likely)
        source = pa.OSFile(f"{DESCRIPTORS}/{opened.fileno()}")
        _keep_from_programs(opened.fileno(), likely)
    with source:
        yield source


def _keep_from_programs(opened: int, likely: int) -> None:
    """Let no program inherit the other descriptor of a file, `likely` if no thread opened one meanwhile."""
    about = os.fstat(opened)

    def keep(number: int) -> bool:
        try:
            if number == opened or not os.path.samestat(os.fstat(number), about):
                return False
            os.set_inheritable(number, False)
        except OSError:  # Another thread has closed it.
            return False
        return True

    if not keep(likely):
        for entry in Path(DESCRIPTORS).iterdir():
            keep(int(entry.name))


@contextmanager
def opened_table(path: Path, metadata: Any = None) -> Iterator[OpenedTable]:
    """Open a table.

    Args:
        path: The file.
        metadata: Its footer, where that was read before.

    Raises:
        Exception: One of `arrow_errors`, if it is damaged or missing, or not as a session's.
    """
    import pyarrow.parquet as pq

    with native_file(path) as source, pq.ParquetFile(source, metadata=metadata) as file:
        if metadata is None:
            check_groups(file.metadata)
        yield OpenedTable(source, file)


def read_groups(file: OpenedTable, groups: Sequence[int], columns: Sequence[str] | None = None) -> Any:
    """Return the rows of row groups as a pyarrow table, with all columns or some.

    pyarrow 18 and 19 end with an error if they read no row group, such as all of a table without rows.
    """
    import pyarrow as pa

    if not groups:
        wanted = [field for field in file.schema_arrow if columns is None or field.name in columns]
        return pa.schema(wanted, file.schema_arrow.metadata).empty_table()
    return file.read(groups, columns, use_threads=worth_threads(file.metadata))


def worth_threads(about: Any) -> bool:
    """Return whether threads read the columns, by the metadata of a file or of a row group.

    A process that may have no more threads can read few rows.
    """
    return bool(about.num_rows >= WORTH_THREADS)


def arrow_errors() -> tuple[type[Exception], ...]:
    """Return what reading a table raises if it is damaged or missing."""
    import pyarrow as pa

    return (OSError, pa.ArrowException, ValueError)
