"""Time in I/O by the wall clock: the union of the calls' intervals, over all processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.intervals import union_ns
from tfdarshan.process_data import ProcessData

MAX_SEGMENTS = 5_000_000
CLASSES = ("read", "write", "meta")


@dataclass(frozen=True)
class WallClock:
    """Seconds in which at least one call (of a class) was running; None where an imported log does not say.

    `thread_s` adds up all calls' durations; divided by `io_s` it says how many calls ran at a time. `exact`
    is False where the unions of several processes could only be added up (segments dropped, or too many): the
    true value is then smaller.
    """

    duration_s: float
    io_s: float | None
    read_s: float | None
    write_s: float | None
    meta_s: float | None
    thread_s: float | None
    exact: bool


def measure_wall_clock(processes: Sequence[ProcessData]) -> WallClock:
    """Measures the time in I/O of a session.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    metas = [process.meta for process in processes]
    origin = min(meta["start_ns"] for meta in metas)
    duration_ns = max(meta["start_ns"] + meta["duration_ns"] for meta in metas) - origin
    counts = [meta["counts"] for meta in metas]
    whole = all(count["segments"] == count["events"] for count in counts)
    names = ("io_ns", "read_ns", "write_ns", "meta_ns")
    unions = [_total([meta["time"][name] for meta in metas]) for name in names]
    exact = len(metas) == 1
    known = None not in unions
    if not exact and known and whole and sum(count["segments"] for count in counts) <= MAX_SEGMENTS:
        unions, exact = _unions_over_processes(processes), True
    threads_ns = _total([meta["time"]["thread_ns"] for meta in metas])
    io_s, read_s, write_s, meta_s, thread_s = (
        None if value is None else value / 1e9 for value in (*unions, threads_ns)
    )
    return WallClock(duration_ns / 1e9, io_s, read_s, write_s, meta_s, thread_s, exact)


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _unions_over_processes(processes: Sequence[ProcessData]) -> list[int | None]:
    parts = [_intervals(process) for process in processes]
    start, end, io_class = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    classes: list[int | None] = [
        union_ns(start[io_class == code], end[io_class == code]) for code in range(len(CLASSES))
    ]
    return [union_ns(start, end), *classes]


def _intervals(process: ProcessData) -> tuple[Any, Any, Any]:
    table = process.table("events", ["start_ns", "end_ns", "operation"]).unify_dictionaries()
    class_of = {
        operation["name"]: CLASSES.index(operation["io_class"]) for operation in process.meta["operations"]
    }
    operation = table["operation"].combine_chunks()
    known = np.array([class_of[name] for name in operation.dictionary.to_pylist()] or [0], np.int8)
    return table["start_ns"].to_numpy(), table["end_ns"].to_numpy(), known[operation.indices.to_numpy()]
