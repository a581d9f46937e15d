"""The calls that were running in a window of time, of all processes, in order of start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import CLASSES, META, Operation
from tfdarshan.analysis.time_windows import TimeWindow
from tfdarshan.native.call_sums import Calls
from tfdarshan.sessions.process_data import ProcessData

STORED = ("start_ns", "end_ns", "pid", "tid", "operation", "file", "length", "error")
KEPT = ("start_ns", "end_ns", "file", "length", "error")
# How the columns of a window are held; `thread`, `operation` and `process` are places in its tuples.
HELD = {
    "start_ns": np.int64, "end_ns": np.int64, "thread": np.int32, "operation": np.uint8, "process": np.int32,
    "file": np.uint32, "length": np.int64, "error": np.int16,
}  # fmt: skip
# Calls of a window: some hundred bytes of memory each.
CALLS_AT_A_TIME = 1 << 21
# A thread: the place of its process among all of the session, the process's id, its own.
ThreadKey = tuple[int, int, int]


@dataclass(frozen=True)
class WindowCalls:
    """Calls in order of start; every array has one entry per call.

    Attributes:
        window: The window.
        start_ns: int64, ns since the session's start.
        end_ns: int64.
        thread: int32, index into `threads`.
        operation: uint8, index into `operations`.
        process: int32, index into the window's processes.
        file: uint32, the file's id within its process.
        length: int64, bytes moved by reads and writes.
        error: int16, errno of a failed call, else 0.
        threads: What `thread` stands for.
        operations: What `operation` stands for.
        guests: How many of the first calls began before the window.
    """

    window: TimeWindow
    start_ns: Array
    end_ns: Array
    thread: Array
    operation: Array
    process: Array
    file: Array
    length: Array
    error: Array
    threads: tuple[ThreadKey, ...]
    operations: tuple[Operation, ...]
    guests: int

    @cached_property
    def io_class(self) -> Array:
        """Each call's index into CLASSES, uint8."""
        classes = [operation.io_class for operation in self.operations]
        return np.array(classes or [META], np.uint8)[self.operation]

    @cached_property
    def cut(self) -> Calls:
        """All of them, cut to the window."""
        from_ns, until_ns = self.window.from_ns, self.window.until_ns
        return Calls(self.start_ns, self.end_ns, self.length, self.io_class, from_ns, until_ns)

    @property
    def own(self) -> slice:
        """Those that began in the window: each call of a session is one window's own."""
        return slice(self.guests, None)

    @cached_property
    def begun(self) -> Calls:
        """Those that began in the window, as long as they were."""
        own = self.own
        return Calls(self.start_ns[own], self.end_ns[own], self.length[own], self.io_class[own])


def window_calls(window: TimeWindow, *, files: bool = True) -> WindowCalls:
    """Reads them.

    Args:
        window: The window.
        files: Whether their files are wanted; without, `file` is 0.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    codes = _Codes()
    stored = tuple(name for name in STORED if files or name != "file")
    parts = [
        columns
        for place, process in enumerate(window.processes)
        for columns in _columns(window, place, process, codes, stored)
    ]
    arrays = {name: _joined([part.pop(name) for part in parts], dtype) for name, dtype in HELD.items()}
    if (arrays["start_ns"][1:] < arrays["start_ns"][:-1]).any():
        order = np.argsort(arrays["start_ns"], kind="stable")
        arrays = {name: values[order] for name, values in arrays.items()}
    guests = int(np.searchsorted(arrays["start_ns"], window.from_ns))
    threads, operations = tuple(codes.threads), tuple(codes.operations.values())
    return WindowCalls(window, **arrays, threads=threads, operations=operations, guests=guests)


def _joined(parts: list[Array], dtype: type) -> Array:
    """Joins arrays; one number throughout, as of a process alone, takes no memory."""
    same = {part[0] for part in parts if part.strides == (0,) and len(part)}
    if len(same) == 1 and all(part.strides == (0,) for part in parts):
        return np.broadcast_to(np.array(same.pop(), dtype), sum(map(len, parts)))
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype)


class _Codes:
    """Numbers threads and kinds of call as they come."""

    def __init__(self) -> None:
        self.threads: dict[ThreadKey, int] = {}
        self.operations: dict[str, Operation] = {}

    def thread_codes(self, place: int, batch: Any) -> Array:
        """Gives each call's thread; many ranks of an imported log share one table."""
        pid, tid = (batch.column(name).to_numpy() for name in ("pid", "tid"))
        if len(pid) and (pid == pid[0]).all():
            codes, tids = pd.factorize(tid)
            keys = [(place, int(pid[0]), of_one) for of_one in tids.tolist()]
        else:
            codes, both = pd.factorize((pid.astype(np.int64) << 32) | tid.astype(np.uint32))
            keys = [(place, key >> 32, _signed(key)) for key in both.tolist()]
        found = [self.threads.setdefault(key, len(self.threads)) for key in keys]
        threads: Array = np.array(found or [0], np.int32)[codes]
        return threads

    def operation_codes(self, process: ProcessData, column: Any) -> Array:
        """Gives each call's kind."""
        for entry in process.operations:
            if entry["name"] not in self.operations:
                kind = Operation(entry["name"], entry["module"], CLASSES.index(entry["io_class"]))
                self.operations[kind.name] = kind
        names = {name: code for code, name in enumerate(self.operations)}
        known = np.array([names[name] for name in column.dictionary.to_pylist()] or [0], np.uint8)
        codes: Array = known[column.indices.to_numpy()]
        return codes


def _signed(key: int) -> int:
    tid = key & 0xFFFFFFFF
    return tid - ((tid >> 31) << 32)


def _columns(
    window: TimeWindow, place: int, process: ProcessData, codes: _Codes, stored: Sequence[str]
) -> Iterator[dict[str, Array]]:
    bounds = (window.from_ns, window.until_ns)
    for batch in process.event_batches(stored, [bounds]):
        columns = {name: batch.column(name).to_numpy() for name in KEPT if name in stored}
        columns.setdefault("file", np.broadcast_to(np.uint32(0), batch.num_rows))
        columns["thread"] = codes.thread_codes(window.places[place], batch)
        columns["operation"] = codes.operation_codes(process, batch.column("operation"))
        columns["process"] = np.broadcast_to(np.int32(place), batch.num_rows)
        start, end = columns["start_ns"], columns["end_ns"]
        within = (start < bounds[1]) & ((start >= bounds[0]) | (end > bounds[0]))
        yield columns if within.all() else {name: values[within] for name, values in columns.items()}
