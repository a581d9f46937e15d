"""What a process's threads did in equal parts of its time: its overview table, or the same made of its calls.

A process that shares its tables with others has no overview: its calls are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.native.spool_reader import ThreadInfo
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.overview_table import Overview

COLUMNS = ("bin", "tid", "operation", "count", "bytes", "busy_ns")
CALL_COLUMNS = ("start_ns", "end_ns", "tid", "operation", "length")


@dataclass(frozen=True)
class OverviewRows:
    """An overview's rows.

    Attributes:
        start_ns: The start of bin 0, since the session's start.
        bin_ns: The length of a bin.
        operations: The names that `columns["operation"]` counts.
        columns: An array per column, all of one length.
    """

    start_ns: int
    bin_ns: int
    operations: list[str]
    columns: dict[str, Array]


def overview_rows(process: ProcessData) -> OverviewRows:
    """Return a process's overview.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    about = process.meta["tables"].get("overview")
    if not about:
        return _of_calls(process)
    table = process.table("overview", COLUMNS).unify_dictionaries().combine_chunks()
    columns = {name: table[name].combine_chunks() for name in COLUMNS}
    names, codes = _encoded(columns.pop("operation"))
    numbers = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    return OverviewRows(about.get("start_ns", 0), about["bin_ns"], names, numbers | {"operation": codes})


def _of_calls(process: ProcessData) -> OverviewRows:
    meta = process.meta
    names = [operation["name"] for operation in process.operations]
    moves = np.array([operation["io_class"] in ("read", "write") for operation in process.operations])
    threads = [ThreadInfo(one["tid"], one["name"], one.get("events", 0), 0, {}) for one in meta["threads"]]
    overview = Overview(meta["duration_ns"], threads, len(names))
    for batch in process.event_batches(CALL_COLUMNS):
        found, codes = _encoded(batch.column("operation"))
        operation = np.array([names.index(name) for name in found])[codes]
        columns = {name: batch.column(name).to_numpy() for name in CALL_COLUMNS if name != "operation"}
        columns["start_ns"], columns["end_ns"] = (
            columns[name] - meta["start_ns"] for name in ("start_ns", "end_ns")
        )
        calls = SimpleNamespace(**columns, operation=operation)
        overview.add(calls, np.where(moves[operation], calls.length, 0))
    return OverviewRows(meta["start_ns"], overview.bin_ns, names, overview.columns())


def _encoded(operation: Any) -> tuple[list[str], Array]:
    """Return the names of a dictionary array, and each row's place among them."""
    if not len(operation):
        return [], np.zeros(0, np.int8)
    return operation.dictionary.to_pylist(), operation.indices.to_numpy()
