"""What a process's threads did in equal parts of its time: its overview table, or the same made of its calls.

A process that shares its tables with others has no overview: its calls are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import CLASSES, META
from tfdarshan.native.spool_reader import ThreadInfo
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.overview_table import Overview
from tfdarshan.sessions.writing.time_bins import TimeBins

COLUMNS = ("bin", "tid", "operation", "count", "bytes", "busy_ns")
CALL_COLUMNS = ("start_ns", "end_ns", "tid", "operation", "length")


# The start of bin 0 since the session's start, a bin's length, the names that "operation" counts, columns.
Rows = tuple[int, int, list[str], dict[str, Array]]


@dataclass(frozen=True)
class OverviewPart:
    """Rows of one process's overview table; `start_ns` is each bin's start since the session's start."""

    process: ProcessData
    start_ns: Array
    tid: Array
    operation: list[str]
    operation_code: Array
    io_class: Array
    count: Array
    bytes_moved: Array
    busy_ns: Array
    bin_ns: int

    def places(self, bins: TimeBins) -> Array:
        """Return the part of time that the middle of each row's bin is in."""
        middle = self.start_ns + self.bin_ns // 2 - bins.start_ns
        return np.clip(middle // bins.bin_ns, 0, bins.count - 1)


def _rows(process: ProcessData) -> Rows:
    """Return a process's overview."""
    about = process.meta["tables"].get("overview")
    if not about:
        return _rows_of_calls(process, calls_of(process, process.event_batches(CALL_COLUMNS)))
    table = process.table("overview", COLUMNS).unify_dictionaries().combine_chunks()
    columns = {name: table[name].combine_chunks() for name in COLUMNS}
    names, codes = _encoded(columns.pop("operation"))
    numbers = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    return about.get("start_ns", 0), about["bin_ns"], names, numbers | {"operation": codes}


def overview_parts(processes: Sequence[ProcessData]) -> Iterator[OverviewPart]:
    """Read the overviews, process by process.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for process in processes:
        yield _part(process, _rows(process))


def _part(process: ProcessData, rows: Rows) -> OverviewPart:
    classes = {o["name"]: CLASSES.index(o["io_class"]) for o in process.operations}
    start_ns, bin_ns, names, columns = rows
    codes = columns["operation"]
    known = np.array([classes.get(name, META) for name in names] or [META], np.int8)
    return OverviewPart(
        process,
        start_ns + columns["bin"].astype(np.int64) * bin_ns,
        columns["tid"],
        names,
        codes,
        known[codes],
        columns["count"],
        columns["bytes"],
        columns["busy_ns"],
        bin_ns,
    )


def part_of_calls(process: ProcessData, batches: Iterable[tuple[Any, Array]]) -> OverviewPart:
    """Return what an overview says of some calls of a process, as `calls_of` yields them."""
    return _part(process, _rows_of_calls(process, batches))


def _rows_of_calls(process: ProcessData, batches: Iterable[tuple[Any, Array]]) -> Rows:
    meta, names = process.meta, _kinds(process)
    threads = [ThreadInfo(one["tid"], one["name"], one.get("events", 0), 0, {}) for one in meta["threads"]]
    overview = Overview(meta["duration_ns"], threads, len(names))
    for calls, moved in batches:
        overview.add(calls, moved)
    return meta["start_ns"], overview.bin_ns, names, overview.columns()


def calls_of(process: ProcessData, batches: Iterable[Any]) -> Iterator[tuple[SimpleNamespace, Array]]:
    """Yield the calls of record batches of CALL_COLUMNS, times since the process's start, and their bytes."""
    start_ns, names = process.meta["start_ns"], _kinds(process)
    moves = np.array([operation["io_class"] in ("read", "write") for operation in process.operations])
    for batch in batches:
        found, codes = _encoded(batch.column("operation"))
        operation = np.array([names.index(name) for name in found])[codes]
        columns = {name: batch.column(name).to_numpy() for name in CALL_COLUMNS if name != "operation"}
        columns["start_ns"], columns["end_ns"] = (columns[name] - start_ns for name in ("start_ns", "end_ns"))
        calls = SimpleNamespace(**columns, operation=operation)
        yield calls, np.where(moves[operation], calls.length, 0)


def _kinds(process: ProcessData) -> list[str]:
    return [operation["name"] for operation in process.operations]


def _encoded(operation: Any) -> tuple[list[str], Array]:
    """Return the names of a dictionary array, and each row's place among them."""
    if not len(operation):
        return [], np.zeros(0, np.int8)
    return operation.dictionary.to_pylist(), operation.indices.to_numpy()
