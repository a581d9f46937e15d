"""Reads what the plug-in put into a trace as if it were the spool: where no session was written beside it.

The plane `/device:CUSTOM:I/O` has the calls, `/tfdarshan` what else a session consists of. Not in there are
the flags of calls and, of a long recording, the shorter calls: the counters have them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import table_name
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.spool_reader import (
    OTHER_FIELDS,
    PATHS_OF_NO_FILE,
    Array,
    EventBatch,
    FailedCalls,
    FileBatch,
    Mount,
    SpoolInfo,
    ThreadInfo,
    other_kinds,
)
from tfdarshan.sessions.schema import FILE_MODULES
from tfdarshan.sessions.traces.xspace import Space
from tfdarshan.sessions.traces.xspace_calls import read_calls

IO_PLANE = "/device:CUSTOM:I/O"
SESSION_PLANE = "/tfdarshan"
NUMBERS_BEFORE_COUNTERS = 4  # file, module, mount, size
LAYOUT_VERSION = 1
WINDOW_BYTES = 3 * 8  # start, end and the time of day at the session's start
MOST_NS = 1 << 62  # two such times make a number of 64 bits
TIMES = ("start_realtime_ns", "duration_ns", "first_event_ns", "last_event_ns", "first_dropped_ns")


class XspaceReader:
    """Has what `spool_reader.SpoolReader` has.

    Raises:
        SessionDataError: The trace holds no session, or one of another version of tfdarshan.
    """

    def __init__(self, space: Space) -> None:
        session, calls = space.plane(SESSION_PLANE), space.plane(IO_PLANE)
        if session is None or calls is None:
            raise SessionDataError(
                f"the trace {space.path} carries no session: it was recorded without tfdarshan.enable(), "
                "or the session was written beside it."
            )
        self._ffi, self._lib = _extension.core()
        self.path = space.path
        self._parts = session.stats
        if self._part("layout").decode("ascii", "replace") != self._own_layout():
            raise SessionDataError(
                f"the session in the trace {space.path} is of another version of tfdarshan: "
                "rebuild it with that one."
            )
        self.window_start_ns, self.window_end_ns = self._window()
        self._info = self._process()
        self._mounts = self._mount_table()[: self._info.mount_count]
        self._failures = self._failed_calls()
        self._numbers = self._file_numbers()
        self._floats = self._file_floats()
        self._paths = self._part("file paths").split(b"\0")
        self._events = read_calls(space, calls, self.window_start_ns)

    def info(self) -> SpoolInfo:
        """Return the process's figures; `segments` are those in the trace."""
        segments = len(self._events["start_ns"])
        return dataclasses.replace(self._info, segments=segments, events_dropped=self._info.events - segments)

    def threads(self, count: int) -> list[ThreadInfo]:
        """Return the first `count` threads."""
        kinds, threads = other_kinds(), []
        for info in self._structs("struct tfd_thread_info", "threads")[:count]:
            rows = self._ffi.unpack(info.other, len(kinds))
            other = {
                kind: dict(zip(OTHER_FIELDS, row, strict=True)) for kind, row in zip(kinds, rows, strict=True)
            }
            name = _extension.text(info.name)
            threads.append(ThreadInfo(info.tid, name, info.events, info.events_dropped, other))
        return threads

    def mounts(self, count: int) -> list[Mount]:
        """Return the first `count` mounts."""
        return self._mounts[:count]

    def failures(self) -> list[FailedCalls]:
        """Return the failed calls by operation and errno."""
        return self._failures

    def paths(self, files: Array) -> list[str]:
        """Return the paths of file ids; bytes that are not UTF-8 become backslash escapes."""
        path_of = dict(zip(self._numbers[:, 0].tolist(), self._paths, strict=False))
        return [PATHS_OF_NO_FILE.get(file) or table_name(path_of.get(file, b"")) for file in files.tolist()]

    def record_ids(self, files: Array) -> Array:
        """Return Darshan's record ids of file ids, uint64."""
        path_of = dict(zip(self._numbers[:, 0].tolist(), self._paths, strict=False))
        return np.array([_bridge.record_id(path_of.get(file, b"")) for file in files.tolist()], np.uint64)

    def file_batches(self, rows: int) -> Iterator[FileBatch]:
        """Yield the files table, at most `rows` rows at a time."""
        for first in range(0, len(self._numbers), rows):
            part = self._numbers[first : first + rows]
            file, module, mount, size_bytes = part[:, :NUMBERS_BEFORE_COUNTERS].T
            yield FileBatch(
                file.astype(np.uint32),
                module.astype(np.uint8),
                mount.astype(np.int32),
                size_bytes.copy(),
                part[:, NUMBERS_BEFORE_COUNTERS:].T.copy(),
                self._floats[first : first + rows].T.copy(),
            )

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the segments in order of start, at most `rows` at a time."""
        for first in range(0, len(self._events["start_ns"]), rows):
            yield EventBatch(**{name: array[first : first + rows] for name, array in self._events.items()})

    def _damaged(self, what: str) -> SessionDataError:
        return SessionDataError(f"the session in the trace {self.path} is damaged: {what}.")

    def _part(self, name: str) -> bytes:
        part = self._parts.get(name)
        if not isinstance(part, bytes):
            raise self._damaged(f"it lacks its {name}")
        return part

    def _window(self) -> tuple[int, int]:
        """Return when, since the session's start, the part of it begins and ends that the trace shows."""
        part = self._part("window")
        times = np.frombuffer(part, np.int64).tolist() if len(part) == WINDOW_BYTES else []
        if not times or abs(times[0]) > MOST_NS:
            raise self._damaged("it does not say which part of the session it shows")
        return times[0], times[1]

    def _process(self) -> SpoolInfo:
        structs = self._structs("struct tfd_spool_info", "info")
        if len(structs) != 1:
            raise self._damaged("it does not say which process it is of")
        info = SpoolInfo(**_extension.plain(structs[0]))
        # The host becomes part of file names.
        if not info.host.isprintable() or "/" in info.host or not info.host:
            raise self._damaged("its host name is empty, or has a / or an unprintable character")
        if any(abs(getattr(info, name)) > MOST_NS for name in TIMES) or info.duration_ns < 0:
            raise self._damaged("a time in it is of no session")
        return info

    def _mount_table(self) -> list[Mount]:
        words = self._part("mounts").split(b"\0")
        quads = list(zip(*[iter(words)] * 4, strict=False))
        if not all(re.fullmatch(rb"[0-9]{1,10}", size) for *_, size in quads):
            raise self._damaged("its mount table cannot be read")
        return [
            Mount(_text(point), table_name(kind), _text(source), int(size))
            for point, kind, source, size in quads
        ]

    def _failed_calls(self) -> list[FailedCalls]:
        operations, failures = _bridge.operations(), self._structs("struct tfd_failure", "failures")
        if not all(0 <= failure.operation < len(operations) for failure in failures):
            raise self._damaged("a call that failed is of no known operation")
        return [
            FailedCalls(operations[failure.operation].name, failure.error, failure.calls)
            for failure in failures
        ]

    def _structs(self, kind: str, name: str) -> list[Any]:
        part = self._part(name)
        count = len(part) // self._ffi.sizeof(kind)
        array = self._ffi.new(f"{kind}[]", count)
        self._ffi.memmove(array, part, count * self._ffi.sizeof(kind))
        self._kept = [*getattr(self, "_kept", []), array]
        return [array[index] for index in range(count)]

    def _own_layout(self) -> str:
        kinds = ("struct tfd_spool_info", "struct tfd_thread_info", "struct tfd_failure")
        sizes = [self._ffi.sizeof(kind) for kind in kinds]
        counts = len(_bridge.counters()), len(_bridge.f_counters()), len(_bridge.operations())
        return " ".join(map(str, (LAYOUT_VERSION, *sizes, *counts)))

    def _file_numbers(self) -> Array:
        """Return the files table's whole numbers: a row for each of its rows."""
        columns = NUMBERS_BEFORE_COUNTERS + len(_bridge.counters())
        values = zigzag_numbers(self._part("file numbers"))
        if len(values) % columns:
            raise self._damaged("its files table is cut")
        rows = values.reshape(-1, columns)
        bounds = ((0, (1 << 32) - 1), (0, len(FILE_MODULES) - 1), (-1, len(self._mounts) - 1))
        for column, (least, most) in zip(rows.T, bounds, strict=False):
            if len(column) and not least <= column.min() <= column.max() <= most:
                raise self._damaged("its files table has a file, module or mount that there is not")
        return rows

    def _file_floats(self) -> Array:
        """Return the files table's other numbers: a row for each of its rows."""
        part, columns = self._part("file floats"), len(_bridge.f_counters())
        if len(part) != len(self._numbers) * columns * np.dtype(np.float64).itemsize:
            raise self._damaged("its files table is cut")
        return np.frombuffer(part, np.float64).reshape(-1, columns)


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")


def zigzag_numbers(data: bytes) -> Array:
    """Decode protobuf's signed variable-length integers, one after the other, as int64."""
    parts = np.frombuffer(data, np.uint8)
    last = np.flatnonzero(parts < 0x80)
    if not len(last):
        return np.empty(0, np.int64)
    first = np.concatenate([[0], last[:-1] + 1])
    place = np.arange(last[-1] + 1) - np.repeat(first, last - first + 1)
    shifted = (parts[: last[-1] + 1] & 0x7F).astype(np.uint64) << (7 * place).astype(np.uint64)
    values = np.bitwise_or.reduceat(shifted, first)
    signs: Array = np.uint64(0) - (values & np.uint64(1))
    numbers: Array = (signs ^ (values >> np.uint64(1))).astype(np.int64)
    return numbers
