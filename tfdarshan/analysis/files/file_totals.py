"""Sums and rankings over the files tables, row group by row group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.files.counter_groups import (
    BYTES_READ,
    BYTES_WRITTEN,
    META_TIMES,
    NO_OPENS,
    OPENS,
    READ_TIMES,
    READS,
    WRITE_TIMES,
    WRITES,
)
from tfdarshan.analysis.files.file_batches import FileBatch, file_batches
from tfdarshan.analysis.files.program_calls import NO_PROGRAMS, ProgramCalls, ProgramSums
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.sessions.process_data import ProcessData

SUMMED_ALSO = (
    *OPENS, *NO_OPENS, "POSIX_SEEKS", "POSIX_STATS", "POSIX_MMAPS", "POSIX_FSYNCS",
    "POSIX_FDSYNCS", "POSIX_SEQ_WRITES", "POSIX_CONSEC_WRITES", "STDIO_SEEKS", "STDIO_FLUSHES",
    "POSIX_SEQ_READS", "POSIX_CONSEC_READS", "TFD_ZERO_SEQ_READS", "TFD_ZERO_CONSEC_READS",
    "TFD_STATS_OTHER", "TFD_MMAP_BYTES", "TFD_RENAMES", "TFD_UNLINKS", "TFD_TRUNCATES",
)  # fmt: skip
TEXTS = ("path", "fs_type")
# File systems whose files are in memory: nothing on them waits for storage.
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "proc", "sysfs", "cgroup", "cgroup2")
PER_ROW = (
    "path",
    "module",
    "fs_type",
    "size_bytes",
    "TFD_ZERO_READS",
    "pid",
)


WANTED = frozenset(
    READ_TIMES
    + WRITE_TIMES
    + META_TIMES
    + BYTES_READ
    + BYTES_WRITTEN
    + READS
    + WRITES
    + SUMMED_ALSO
    + PER_ROW
)


@dataclass(frozen=True)
class FileEntry:
    """One row of the files table, in short. Times in seconds; `time_s` is read, write and metadata time."""

    path: str
    module: str
    pid: int
    fs_type: str
    size_bytes: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    read_s: float
    write_s: float
    meta_s: float
    time_s: float


@dataclass(frozen=True)
class FileTotals:
    """Counters summed over all rows, and the rows that stand out.

    `unknown` names the counters that some rows do not have (imported logs): their sums leave those rows out,
    and `posix_zero_reads` is None where some POSIX row lacks it. `read_s`, `write_s` and `meta_s` add up the
    rows' times: a moment counts as often as files were busy in it. `moved` has each process's bytes read and
    bytes written, in the order of the processes. `programs` is what of all that is of programs' files.
    `mapped_in_memory` is what of TFD_MMAP_BYTES is of files on a file system that is in memory.
    `paths` counts each path once, however many processes used it.
    """

    sums: dict[str, int]
    posix_zero_reads: int | None
    slowest: list[FileEntry]
    most_read: list[FileEntry]
    unknown: frozenset[str] = frozenset()
    read_s: float = 0.0
    write_s: float = 0.0
    meta_s: float = 0.0
    moved: tuple[tuple[int, int], ...] = ()
    programs: ProgramCalls = NO_PROGRAMS
    mapped_in_memory: int = 0
    paths: int = 0

    def __post_init__(self) -> None:
        # Also of what was kept in a file.
        object.__setattr__(self, "sums", _Zeros(self.sums))

    def known(self, name: str) -> int | None:
        """Return a counter's sum, None where some rows do not have it."""
        return None if name in self.unknown else self.sums[name]


def total_files(processes: Sequence[ProcessData], top: int) -> FileTotals:
    """Sum the files tables of all processes and pick the `top` slowest and most-read rows.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    sums = TotalSums(len(processes), top)
    for batch in file_batches(processes, is_summed):
        sums.add(batch)
    return sums.totals()


def is_summed(column: str) -> bool:
    """Return whether `TotalSums` reads a column of the files table."""
    return column in WANTED or column.startswith(("POSIX_SIZE_", "STDIO_BYTES_"))


class TotalSums:
    """Takes the files tables batch by batch, and adds them up.

    Args:
        processes: How many processes there are.
        top: How many of the slowest and of the most-read rows are kept.
    """

    def __init__(self, processes: int, top: int) -> None:
        self._top = top
        self._sums: dict[str, int] = {}
        self._unknown: set[str] = set()
        self._seconds = dict.fromkeys((READ_TIMES, WRITE_TIMES, META_TIMES), 0.0)
        self._zero, self._zero_known = 0, True
        self._slowest: list[FileEntry] = []
        self._most_read: list[FileEntry] = []
        self._moved = np.zeros((processes, 2), np.int64)
        self._programs = ProgramSums()
        self._mapped_in_memory = 0
        self._paths = DistinctPaths()

    def add(self, batch: FileBatch) -> None:
        """Add rows; the batch has the columns that `is_summed` names."""
        columns, missing = _known(batch.rows)
        self._unknown.update(missing)
        for names in self._seconds:
            self._seconds[names] += float(np.sum(_sum(columns, names)))
        for name, values in columns.items():
            if name not in TEXTS and values.dtype == np.int64:
                self._sums[name] = self._sums.get(name, 0) + int(values.sum())
        posix = columns["module"] == "POSIX"
        self._zero += int(columns["TFD_ZERO_READS"][posix].sum())
        self._zero_known &= not (posix & missing.get("TFD_ZERO_READS", False)).any()
        self._programs.add(columns)
        self._mapped_in_memory += _mapped_in_memory(columns)
        self._paths.add(columns["path"])
        seconds = np.zeros(batch.rows.num_rows) + _sum(columns, READ_TIMES + WRITE_TIMES + META_TIMES)
        moved, written = (
            np.zeros(len(seconds), np.int64) + _sum(columns, names) for names in (BYTES_READ, BYTES_WRITTEN)
        )
        for column, values in enumerate((moved, written)):
            self._moved[batch.places, column] += batch.by_process(values)
        for _, rows in batch.parts:
            self._slowest = _best(self._slowest, columns, rows, seconds, self._top, "time_s")
            self._most_read = _best(self._most_read, columns, rows, moved, self._top, "bytes_read")

    def totals(self) -> FileTotals:
        """Return the sums."""
        read_s, write_s, meta_s = self._seconds.values()
        return FileTotals(
            self._sums, self._zero if self._zero_known else None, self._slowest, self._most_read,
            frozenset(self._unknown), read_s, write_s, meta_s,
            tuple((read, written) for read, written in self._moved.tolist()),
            self._programs.calls(), self._mapped_in_memory, self._paths.count(),
        )  # fmt: skip


class DistinctPaths:
    """Counts paths of files tables, each once; it holds twice as many as there are, at most."""

    def __init__(self) -> None:
        self._known = pa.array([], pa.large_string())
        self._more: list[Any] = []

    def add(self, paths: Any) -> None:
        """Add a batch's paths, a pyarrow array."""
        self._more.append(pc.unique(paths.cast(pa.large_string())))
        if sum(map(len, self._more)) > len(self._known):
            self._join()

    def count(self) -> int:
        """Return how many are files."""
        self._join()
        no_file = pa.array(PATHS_OF_NO_FILE.values(), pa.large_string())
        return len(self._known) - int(pc.is_in(self._known, no_file).sum().as_py() or 0)

    def _join(self) -> None:
        self._known = pc.unique(pa.chunked_array([self._known, *self._more]))
        self._more = []


class _Zeros(dict[str, int]):
    """Sums in which a counter that no table has is 0."""

    def __missing__(self, name: str) -> int:
        return 0


def _known(batch: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a batch's columns with 0 for what is unknown, and which rows that is."""
    columns, missing = {}, {}
    for name in filter(is_summed, batch.schema.names):
        column = batch.column(name)
        if column.null_count:
            missing[name] = column.is_null().to_numpy(zero_copy_only=False)
            column = column.fill_null(0)
        # A text is made of those few rows alone that are listed.
        columns[name] = column if name in TEXTS else _not_negative(column.to_numpy(zero_copy_only=False))
    return columns, missing


def _not_negative(values: Any) -> Any:
    """Return a column with 0 for time below 0: a log has it where a clock was set back, and it is no time."""
    return np.maximum(values, 0) if values.dtype == np.float64 and (values < 0).any() else values


def _mapped_in_memory(columns: dict[str, Any]) -> int:
    mapped = columns.get("TFD_MMAP_BYTES", np.zeros(0, np.int64))
    rows = np.flatnonzero(mapped)
    kinds = columns["fs_type"].take(rows).to_pylist() if len(rows) else []
    return sum(int(mapped[row]) for row, kind in zip(rows.tolist(), kinds, strict=True) if kind in IN_MEMORY)


def _sum(columns: dict[str, Any], names: Sequence[str], rows: Any = slice(None)) -> Any:
    return sum((columns[name][rows] for name in names if name in columns), start=0)


def _best(
    best: list[FileEntry], columns: dict[str, Any], rows: slice, measure: Any, top: int, key: str
) -> list[FileEntry]:
    """Return the best of those so far and of some rows, all of one process."""
    part = measure[rows]
    if not top or not len(part) or (len(best) == top and part.max() < getattr(best[-1], key)):
        return best
    count = min(top, len(part))
    found = np.argpartition(part, len(part) - count)[len(part) - count :].tolist()
    entries = [_entry(columns, rows.start + row) for row in found if part[row] > 0]
    ranked = sorted([*best, *entries], key=lambda entry: (-getattr(entry, key), entry.path))
    return ranked[:top]


def _entry(columns: dict[str, Any], row: int) -> FileEntry:
    read_s, write_s, meta_s = (
        float(_sum(columns, names, row)) for names in (READ_TIMES, WRITE_TIMES, META_TIMES)
    )
    return FileEntry(
        path=str(columns["path"][row]),
        module=str(columns["module"][row]),
        pid=int(columns["pid"][row]),
        fs_type=str(columns["fs_type"][row]),
        size_bytes=int(columns["size_bytes"][row]),
        reads=int(_sum(columns, READS, row)),
        writes=int(_sum(columns, WRITES, row)),
        bytes_read=int(_sum(columns, BYTES_READ, row)),
        bytes_written=int(_sum(columns, BYTES_WRITTEN, row)),
        read_s=read_s,
        write_s=write_s,
        meta_s=meta_s,
        time_s=read_s + write_s + meta_s,
    )
