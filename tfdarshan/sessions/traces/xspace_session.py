"""Reads what the plug-in put into a trace as if it were the spool: where no session was written beside it.

The plane `/device:CUSTOM:I/O` has the calls, `/tfdarshan` what else a session consists of. Not in there are
the flags of calls and, of a long recording, the shorter calls: the counters have them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import table_name
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.spool_reader import (
    EVENT_DTYPES,
    OTHER_FIELDS,
    PATHS_OF_NO_FILE,
    Array,
    EventBatch,
    Failure,
    FileBatch,
    Mount,
    SpoolInfo,
    ThreadInfo,
    other_kinds,
)
from tfdarshan.sessions.traces.xspace import Event, Plane, Space

IO_PLANE = "/device:CUSTOM:I/O"
SESSION_PLANE = "/tfdarshan"
IO_THREAD = "I/O thread"
FIRST_FILE_STAT = 100  # csrc/tensorflow/io_plane_ids.h
NUMBERS_BEFORE_COUNTERS = 4  # file, module, mount, size
LAYOUT_VERSION = 1


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
        self.window_start_ns, self.window_end_ns, _ = np.frombuffer(self._part("window"), np.int64).tolist()
        self._numbers = self._file_numbers()
        self._paths = self._part("file paths").split(b"\0")
        self._events = _events(space, calls, self.window_start_ns)

    def info(self) -> SpoolInfo:
        """Gives the process's figures; `segments` are those in the trace."""
        struct = self._structs("struct tfd_spool_info", "info")[0]
        info = SpoolInfo(**_extension.plain(struct))
        segments = len(self._events["start_ns"])
        return dataclasses.replace(info, segments=segments, events_dropped=info.events - segments)

    def threads(self, count: int) -> list[ThreadInfo]:
        """Gives the first `count` threads."""
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
        """Gives the first `count` mounts."""
        words = [word.decode("utf-8", "surrogateescape") for word in self._part("mounts").split(b"\0")]
        quads = zip(*[iter(words)] * 4, strict=False)
        return [Mount(point, kind, source, int(size)) for point, kind, source, size in quads][:count]

    def failures(self) -> list[Failure]:
        """Gives the failed calls by operation and errno."""
        operations = _bridge.operations()
        return [
            Failure(operations[failure.operation].name, failure.error, failure.calls)
            for failure in self._structs("struct tfd_failure", "failures")
        ]

    def paths(self, files: Array) -> list[str]:
        """Gives the paths of file ids; bytes that are not UTF-8 become backslash escapes."""
        path_of = dict(zip(self._numbers[:, 0].tolist(), self._paths, strict=False))
        return [PATHS_OF_NO_FILE.get(file) or table_name(path_of.get(file, b"")) for file in files.tolist()]

    def record_ids(self, files: Array) -> Array:
        """Gives Darshan's record ids of file ids, uint64."""
        path_of = dict(zip(self._numbers[:, 0].tolist(), self._paths, strict=False))
        return np.array([_bridge.record_id(path_of.get(file, b"")) for file in files.tolist()], np.uint64)

    def file_batches(self, rows: int) -> Iterator[FileBatch]:
        """Yields the files table, at most `rows` rows at a time."""
        floats = np.frombuffer(self._part("file floats"), np.float64).reshape(len(self._numbers), -1)
        for first in range(0, len(self._numbers), rows):
            part = self._numbers[first : first + rows]
            file, module, mount, size_bytes = part[:, :NUMBERS_BEFORE_COUNTERS].T
            yield FileBatch(
                file.astype(np.uint32),
                module.astype(np.uint8),
                mount.astype(np.int32),
                size_bytes.copy(),
                np.ascontiguousarray(part[:, NUMBERS_BEFORE_COUNTERS:].T),
                np.ascontiguousarray(floats[first : first + rows].T),
            )

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yields the segments in order of start, at most `rows` at a time."""
        for first in range(0, len(self._events["start_ns"]), rows):
            yield EventBatch(**{name: array[first : first + rows] for name, array in self._events.items()})

    def _part(self, name: str) -> bytes:
        part = self._parts.get(name)
        if not isinstance(part, bytes):
            raise SessionDataError(f"the session in the trace {self.path} is damaged: it lacks its {name}.")
        return part

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
        columns = NUMBERS_BEFORE_COUNTERS + len(_bridge.counters())
        values = zigzag_numbers(self._part("file numbers"))
        if len(values) % columns:
            raise SessionDataError(
                f"the session in the trace {self.path} is damaged: its files table is cut."
            )
        return values.reshape(-1, columns)


def zigzag_numbers(data: bytes) -> Array:
    """Decodes protobuf's signed variable-length integers, one after the other, as int64."""
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


def _events(space: Space, plane: Plane, window_start_ns: int) -> dict[str, Array]:
    codes = {operation.name: code for code, operation in enumerate(_bridge.operations())}
    operation_of = {number: codes[name] for number, name in plane.event_names.items() if name in codes}
    rows = []
    for line in plane.lines:
        if not line.name.startswith(IO_THREAD):
            continue
        tid = line.id - (1 << 32) if line.id >> 31 else line.id
        for span in line.events:
            event = space.event(span)
            if event.metadata in operation_of:
                rows.append(_row(event, operation_of[event.metadata], tid, plane.stat_names, window_start_ns))
    columns = list(zip(*rows, strict=True)) or [()] * len(EVENT_DTYPES)
    arrays = {
        name: np.array(column, dtype)
        for (name, dtype), column in zip(EVENT_DTYPES.items(), columns, strict=True)
    }
    order = np.argsort(arrays["start_ns"], kind="stable")
    return {name: array[order] for name, array in arrays.items()}


def _row(
    event: Event, operation: int, tid: int, names: dict[int, str], window_start_ns: int
) -> tuple[int, ...]:
    stats = {names.get(number, ""): value for number, value in event.stats.items()}
    start_ns = window_start_ns + event.start_ps // 1000
    file = stats.get("file", FIRST_FILE_STAT) - FIRST_FILE_STAT
    offset = stats.get("offset", stats.get("mode", -1))
    if "new name" in stats:
        offset = stats["new name"] - FIRST_FILE_STAT
    length = stats.get("bytes", stats.get("size", 0))
    end_ns = start_ns + event.duration_ps // 1000
    return (start_ns, end_ns, tid, operation, 0, stats.get("errno", 0), file, offset, length)
