"""The segments of all processes as NumPy arrays, sorted by start: what most questions are asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.merged_calls import Columns, in_order
from tfdarshan.analysis.calls.thinned_times import TABLE, resolution_ns
from tfdarshan.native.call_sums import Calls
from tfdarshan.sessions import schema
from tfdarshan.sessions.process_data import ProcessData

if TYPE_CHECKING:
    from tfdarshan.analysis.calls.file_names import FileNames

CLASSES = ("read", "write", "meta")
READ, WRITE, META = range(len(CLASSES))


@dataclass(frozen=True)
class Operation:
    """A kind of call; `io_class` is an index into CLASSES."""

    name: str
    module: str
    io_class: int


@dataclass(frozen=True)
class Thread:
    """A thread of one process, whose place among the processes is `process`."""

    host: str
    pid: int
    tid: int
    name: str
    process: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Where it comes among threads: by process, and as threads began, whose ids mostly grow."""
        return self.process, self.tid

    @property
    def label(self) -> str:
        """Words it in short."""
        return f"{self.tid} ({self.name})" if self.name else str(self.tid)


@dataclass(frozen=True)
class Segments:
    """Recorded calls in order of start; every array has one entry per call.

    Attributes:
        start_ns: int64, ns since the session's start.
        end_ns: int64, ns since the session's start.
        thread: int32, index into `threads`.
        operation: uint8, index into `operations`.
        file: int32, index into the file table that the segments were loaded with.
        offset: int64, bytes, -1 if the call has none.
        length: int64, bytes moved; for other calls than reads and writes what `schema` says.
        error: int16, errno of a failed call, else 0.
        flags: uint8, of thinned calls those of the table; 0 of other calls.
        threads: What `thread` stands for.
        operations: What `operation` stands for.
        complete: False where some calls have no segment: a bound was reached, or an imported log has none.
    """

    start_ns: Array
    end_ns: Array
    thread: Array
    operation: Array
    file: Array
    offset: Array
    length: Array
    error: Array
    flags: Array
    threads: tuple[Thread, ...]
    operations: tuple[Operation, ...]
    complete: bool

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def io_class(self) -> Array:
        """Each call's index into CLASSES, int8."""
        return np.array([operation.io_class for operation in self.operations] or [META], np.int8)[
            self.operation
        ]

    @property
    def is_fault(self) -> Array:
        """Which of them are page faults on mapped files, and no calls, bool."""
        faults = [operation.module == schema.FAULT_MODULE for operation in self.operations]
        return np.array(faults or [False])[self.operation]

    @property
    def calls(self) -> Calls:
        """Them as the C core takes them."""
        return Calls(self.start_ns, self.end_ns, self.length, self.io_class)

    def blocks(self) -> Iterator[Segments]:
        """Yield the calls a block at a time."""
        return (self.where(slice(first, first + BLOCK)) for first in range(0, len(self), BLOCK))

    def where(self, chosen: Array | slice) -> Segments:
        """Return the calls that a mask, a slice or an array of places names, in the same order."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in COLUMNS})


# Calls handled at a time: their columns fit into the processor's cache.
BLOCK = 1 << 17
COLUMNS = {
    "start_ns": np.int64,
    "end_ns": np.int64,
    "thread": np.int32,
    "operation": np.uint8,
    "file": np.int32,
    "offset": np.int64,
    "length": np.int64,
    "error": np.int16,
    "flags": np.uint8,
}
EVENTS, FAULTS = "events", "faults"
STORED = ("start_ns", "end_ns", "pid", "tid", "operation", "file", "offset", "length", "error")
OF_THINNED = (*STORED, "flags")
# What says nothing of when a call was, and of which file; tables lack some.
DETAILS = ("offset", "length", "error", "flags")
# Give a session's calls in order of start, block by block.
Blocks = Callable[[], Iterator[Segments]]


def load_segments(
    processes: Sequence[ProcessData], file_index: Sequence[Array], *, tables: Sequence[str] = (EVENTS,)
) -> Segments:
    """Read all calls, as `segment_blocks` yields them.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    nothing = SegmentLoader(processes).segments()
    return joined_segments([nothing, *segment_blocks(processes, file_index, tables=tables)])


def segment_blocks(
    processes: Sequence[ProcessData],
    file_index: Sequence[Array],
    *,
    windows_ns: Sequence[tuple[int, int]] | None = None,
    tables: Sequence[str] = (EVENTS,),
) -> Iterator[Segments]:
    """Yield all calls in order of start, with no more than a few row groups of each process in memory.

    Args:
        processes: The processes, in the order of `file_index`.
        file_index: Per process, the file-table index of each of its file ids: `FileTable.index`.
        windows_ns: Row groups of events without one that was running within one of these are not read.
        tables: EVENTS are calls. FAULTS are page faults on mapped files, of operation "fault"; TABLE has the
            calls that the timeline shows after the trace is full. Of these all rows of a process are in
            memory.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    loader = SegmentLoader(processes, faults=FAULTS in tables)
    pairs = list(zip(processes, file_index, strict=True))
    streams = [loader.stream(*pair, table, windows_ns) for table in tables for pair in pairs]
    for found in in_order(streams):
        yield loader.block(found)


def stretched(thinned: Segments, processes: Sequence[ProcessData]) -> Segments:
    """Return thinned calls of some processes, each as long as the time in calls that it stands for."""
    of_process = np.array([resolution_ns(process.meta) for process in processes])
    least_ns = np.array([of_process[thread.process] for thread in thinned.threads] or [0])[thinned.thread]
    least_ns = np.where(thinned.flags & schema.FIRST_OPEN, 0, least_ns)
    return replace(thinned, end_ns=np.maximum(thinned.end_ns, thinned.start_ns + least_ns))


def segments_of_files(blocks: Iterable[Segments], files: Sequence[int]) -> Segments:
    """Return the calls on some files of the file table, of all calls block by block."""
    found = [load_segments([], [])]
    for block in blocks:
        found.append(block.where(np.flatnonzero(np.isin(block.file, np.asarray(files, np.int32)))))
    return joined_segments(found)


def joined_segments(parts: Sequence[Segments]) -> Segments:
    """Return the calls of some parts, one after the other; the last one knows all threads and operations."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS
    }
    return replace(parts[-1], **arrays)


def operations_of(processes: Sequence[ProcessData]) -> dict[str, Operation]:
    """Return the kinds of call that some processes know, by name."""
    found: dict[str, Operation] = {}
    for process in processes:
        for entry in process.operations:
            kind = Operation(entry["name"], entry["module"], CLASSES.index(entry["io_class"]))
            found.setdefault(kind.name, kind)
    return found


def operation_codes(column: Any, codes: Mapping[str, int]) -> Array:
    """Return the codes of the operations that a table's column names, uint8."""
    known = np.array([codes[name] for name in column.dictionary.to_pylist()] or [0], np.uint8)
    return known[column.indices.to_numpy()]


class SegmentLoader:
    """Fills the arrays.

    Args:
        processes: The processes whose calls are read.
        faults: Page faults on mapped files are read, too.
    """

    def __init__(self, processes: Sequence[ProcessData], *, faults: bool = False) -> None:
        self._processes = processes
        self._place_of = {id(process): place for place, process in enumerate(processes)}
        self._operations = operations_of(processes)
        if faults:
            self._operations[schema.FAULT] = Operation(schema.FAULT, schema.FAULT_MODULE, META)
        self._codes = {name: code for code, name in enumerate(self._operations)}
        self._class_of = np.array([o.io_class for o in self._operations.values()] or [META], np.int8)
        self._threads: list[Thread] = []
        # Each thread's place, by process and thread: several tables have calls of one.
        self._thread_of: dict[int, dict[int, int]] = {}
        self._parts: list[dict[str, Array]] = []

    def add_some(
        self,
        process: ProcessData,
        table: str,
        windows_ns: Sequence[tuple[int, int]],
        chosen: Callable[[dict[str, Array], Array], Array],
        names: FileNames,
    ) -> None:
        """Add some calls of one process, for `segments`.

        Args:
            process: The process.
            table: One of those of `segment_blocks`.
            windows_ns: When they ran; other row groups of events are not read.
            chosen: Says of a batch's columns and I/O classes which calls are wanted, as a mask.
            names: Is told of the files.
        """
        parts = []
        for columns in self._batches(process, _stored(process, table, windows_ns)):
            wanted = chosen(columns, self._class_of[columns["operation"]])
            parts.append({name: values[wanted] for name, values in columns.items()})
        joined = _joined(parts)
        joined["file"] = names.add(process, joined["file"])
        self._parts.append(joined)

    def stream(
        self,
        process: ProcessData,
        index: Array,
        table: str,
        windows_ns: Sequence[tuple[int, int]] | None,
    ) -> Iterator[Columns]:
        """Yield a table of one process in order of start: COLUMNS, events a row group at a time."""
        found = self._columns(process, index, _stored(process, table, windows_ns))
        if table == EVENTS:
            yield from found
        elif parts := list(found):
            joined = [np.concatenate(values) for values in zip(*parts, strict=True)]
            order = np.argsort(joined[0], kind="stable")
            yield tuple(values[order] for values in joined)

    def _columns(self, process: ProcessData, index: Array, stored: Iterator[Any]) -> Iterator[Columns]:
        for columns in self._batches(process, stored):
            columns["file"] = _looked_up(index, columns["file"])
            if len(columns["start_ns"]):
                yield tuple(columns[name].astype(dtype, copy=False) for name, dtype in COLUMNS.items())

    def block(self, columns: Columns) -> Segments:
        """Make segments of columns that `stream` gave."""
        return self._segments(dict(zip(COLUMNS, columns, strict=True)))

    def _batches(self, process: ProcessData, batches: Iterator[Any]) -> Iterator[dict[str, Array]]:
        """Yield columns as `Segments` has them, but for `file`, which is the id within the process."""
        names = {thread["tid"]: thread["name"] for thread in process.meta.get("threads", ())}
        thread_of = self._thread_of.setdefault(id(process), {})
        for batch in batches:
            columns = {name: _numbers(batch, name) for name in ("start_ns", "end_ns", *DETAILS, "file")}
            columns["operation"] = operation_codes(batch.column("operation"), self._codes)
            codes, keys = _thread_keys(batch)
            for key in keys:
                if key not in thread_of:
                    thread_of[key] = len(self._threads)
                    thread = _thread(process, key >> 32, key & 0xFFFFFFFF, names)
                    self._threads.append(replace(thread, process=self._place_of[id(process)]))
            columns["thread"] = np.array([thread_of[key] for key in keys] or [0], np.int32)[codes]
            yield columns

    def segments(self) -> Segments:
        """Return in order of start what was added since the last time."""
        arrays = _joined(self._parts)
        self._parts.clear()
        order = np.argsort(arrays["start_ns"], kind="stable")
        return self._segments({name: values[order] for name, values in arrays.items()})

    def _segments(self, arrays: dict[str, Array]) -> Segments:
        complete = all(
            process.meta["counts"]["segments"] == process.meta["counts"]["events"]
            for process in self._processes
        )
        return Segments(
            **arrays,
            threads=tuple(self._threads),
            operations=tuple(self._operations.values()),
            complete=complete,
        )


def _stored(process: ProcessData, table: str, windows_ns: Sequence[tuple[int, int]] | None) -> Iterator[Any]:
    """Return the record batches of a table; none if the process lacks it."""
    if table == EVENTS:
        return process.event_batches(STORED, windows_ns)
    if table not in process.meta["tables"]:
        return iter(())
    return process.batches(table, OF_THINNED if table == TABLE else STORED)


def _joined(parts: Sequence[dict[str, Array]]) -> dict[str, Array]:
    return {
        name: np.concatenate([np.empty(0, dtype), *(part[name] for part in parts)], dtype=dtype)
        for name, dtype in COLUMNS.items()
    }


def _thread(process: ProcessData, pid: int, tid: int, names: dict[int, str]) -> Thread:
    tid -= (tid >> 31) << 32
    return Thread(process.meta["host"], pid, tid, names.get(tid, ""))


def _numbers(batch: Any, name: str) -> Array:
    """Return a column's numbers; zeros that take no memory if it was not read."""
    if name not in batch.schema.names:
        return np.broadcast_to(np.zeros(1, COLUMNS[name]), batch.num_rows)
    return batch.column(name).to_numpy(zero_copy_only=False)


def _thread_keys(batch: Any) -> tuple[Array, list[int]]:
    """Return each call's place among the threads, and these: process and thread id as one number.

    Many ranks of an imported log share one table; else all calls are of one process.
    """
    pid, tid = (batch.column(name).to_numpy() for name in ("pid", "tid"))
    if len(pid) and (pid == pid[0]).all():
        codes, tids = pd.factorize(tid)
        return codes, [(int(pid[0]) << 32) | (key & 0xFFFFFFFF) for key in tids.tolist()]
    codes, keys = pd.factorize((pid.astype(np.int64) << 32) | tid.astype(np.uint32))
    return codes, keys.tolist()


def _looked_up(index: Array, file: Array) -> Array:
    """Return places in the file table; a file that has no row is place 0, which is "(no file)"."""
    if len(file) and file.max() < len(index):
        return index[file]
    return np.where(file < len(index), index[np.minimum(file, len(index) - 1)], 0)
