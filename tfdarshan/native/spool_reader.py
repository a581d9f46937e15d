"""Reads one process's spool through the C core: counters and segments as NumPy arrays, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import table_name
from tfdarshan.native import _bridge, _extension

Array = np.ndarray[Any, np.dtype[Any]]

# File ids that are no file, and the path of their rows.
PATHS_OF_NO_FILE = {0: "(no file)", 1: "(files beyond memory_cap_mb)"}

# How a program joined that was started: enum tfd_joined in csrc/spool/spool.h.
JOINED_BY_LIBRARY = 2

OTHER_FIELDS = ("reads", "bytes_read", "writes", "bytes_written", "other_calls")


@dataclass(frozen=True)
class SpoolInfo:
    """What a spool says about its process and its session; times in ns, sizes in bytes.

    `capacity_bytes` and `trace_limit_bytes` are the bounds it was recorded with: less than the options asked
    for if there was no room. `files_over_cap` counts each file once. `stopped` is 0 where the process ended
    without stopping the session. The kernel's figures (`rchar` to `write_bytes`) count the session only and
    mean nothing where `kernel_valid` is 0. `io_ns`, `read_ns`, `write_ns` and `meta_ns` are unions of
    intervals: wall-clock time with at least one such call running;
    `thread_ns` adds up all calls' durations.
    """

    pid: int
    parent_pid: int
    stopped: int
    mount_count: int
    host: str
    command: str
    start_realtime_ns: int
    duration_ns: int
    threads: int
    files: int
    file_rows: int
    events: int
    segments: int
    events_dropped: int
    files_over_cap: int
    spool_bytes: int
    spool_full: int
    damaged: int
    kernel_valid: int
    rchar: int
    wchar: int
    syscr: int
    syscw: int
    read_bytes: int
    write_bytes: int
    earlier_rchar: int
    earlier_wchar: int
    earlier_read_bytes: int
    earlier_write_bytes: int
    own_rchar: int
    own_wchar: int
    uncounted: int
    io_ns: int
    read_ns: int
    write_ns: int
    meta_ns: int
    thread_ns: int
    first_event_ns: int
    last_event_ns: int
    first_dropped_ns: int
    capacity_bytes: int
    trace_limit_bytes: int


@dataclass(frozen=True)
class ThreadInfo:
    """One thread: its events, and its traffic that is in no table, by kind (see OTHER_FIELDS)."""

    tid: int
    name: str
    events: int
    events_dropped: int
    other: dict[str, dict[str, int]]


@dataclass(frozen=True)
class MappingInfo:
    """How reads through mapped files were watched; times in ns.

    `watch` is "watched" where page faults were events, for `sampled_ns` of `watched_ns`; else it says what
    was refused, with errno `error`. `faults` were events, those on other memory too; `minor_faults` and
    `major_faults` are getrusage's of the process meanwhile, and `sampled_faults` those of the time in which
    faults were events. `mappings_left_out` are of files that there was no room for; `faults_kept` are the
    faults on mapped files that there was room for one by one, and `faults_left_out` the others; `settled` is
    0 where the process ended before what it did last was looked at. Where faults were no events, threads were
    looked at `looks` times: they were in faults for `blocked_ns`, added up, and `blocked_busy_ns`, overlaps
    counted once, at least.
    """

    files: int
    watch: str
    error: int
    faults: int
    samples_lost: int
    samples_unpaired: int
    mappings_lost: int
    mappings_left_out: int
    faults_kept: int
    faults_left_out: int
    settled: int
    watched_ns: int
    sampled_ns: int
    minor_faults: int
    major_faults: int
    sampled_faults: int
    cost_ns: int
    looks: int
    blocked_ns: int
    blocked_busy_ns: int


@dataclass(frozen=True)
class Mount:
    """One mount point of the process's mount table; `block_size` in bytes, 0 if unknown."""

    point: str
    fs_type: str
    source: str
    block_size: int


@dataclass(frozen=True)
class FailedCalls:
    """How many calls of an operation failed with an errno."""

    operation: str
    error: int
    calls: int


@dataclass(frozen=True)
class FileBatch:
    """Rows of the files table.

    `counters` and `f_counters` have one row per counter and one column per row of the batch.
    """

    file: Array
    module: Array
    mount: Array
    size_bytes: Array
    counters: Array
    f_counters: Array


@dataclass(frozen=True)
class EventBatch:
    """Segments sorted by start; `start_ns` and `end_ns` count from the process's own start.

    `pid` is None where all are one process's.
    """

    start_ns: Array
    end_ns: Array
    tid: Array
    operation: Array
    flags: Array
    error: Array
    file: Array
    offset: Array
    length: Array
    pid: Array | None = None


EVENT_DTYPES = {
    "start_ns": np.int64,
    "end_ns": np.int64,
    "tid": np.int32,
    "operation": np.uint8,
    "flags": np.uint8,
    "error": np.int16,
    "file": np.uint32,
    "offset": np.int64,
    "length": np.int64,
}
# Sums over time of calls that have no segment: schema.UNTRACED_COLUMNS.
UNTRACED_SUMS = ("start_ns", "end_ns", "calls", "bytes_read", "bytes_written", "busy_ns")
FILE_DTYPES = {"file": np.uint32, "module": np.uint8, "mount": np.int32, "size_bytes": np.int64}


class SpoolReader:
    """An open spool. Use it in a `with` statement."""

    def __init__(
        self, path: Path, *, seen_of: SpoolReader | None = None, start_realtime_ns: int | None = None
    ) -> None:
        """Open a spool; with `seen_of`, its reader, the counters are those of the calls libdarshan saw.

        These are the counters of files that libdarshan saw some calls of and others not: rows of other files
        are left out. See `partly_seen`. With `start_realtime_ns`, the process began then, not when its own
        clock said.
        """
        self._ffi, self._lib = _extension.core()
        self.path = path
        self._start_realtime_ns = start_realtime_ns
        self._reader: Any  # None once it is closed
        if seen_of is None:
            self._reader = self._lib.tfd_reader_open(os.fsencode(path))
        else:
            self._reader = self._lib.tfd_reader_open_seen(seen_of._reader, os.fsencode(path))
        if not self._reader:
            raise SessionDataError(
                f"the spool {path} cannot be read: {_extension.last_error() or 'no reason given'}."
            )

    def __enter__(self) -> SpoolReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the spool; a second call does nothing."""
        if self._reader:
            self._lib.tfd_reader_close(self._reader)
            self._reader = None

    def info(self) -> SpoolInfo:
        """Return the process's figures. The first call folds whatever the process had not folded yet."""
        info = self._ffi.new("struct tfd_spool_info *")
        self._check(self._lib.tfd_reader_info(self._reader, info))
        if self._start_realtime_ns is not None:
            info.start_realtime_ns = self._start_realtime_ns
        return SpoolInfo(**_extension.plain(info[0]))

    def mapping(self) -> MappingInfo | None:
        """Describe how reads through mapped files were watched; None where no file was mapped."""
        info = self._ffi.new("struct tfd_mapping_info *")
        if not self._lib.tfd_reader_mapping_info(self._reader, info):
            return None
        watch = _extension.text(self._lib.tfd_mapping_watch_name(info.watch))
        return MappingInfo(**_extension.plain(info[0]) | {"watch": watch})

    def joined(self) -> bool:
        """Return whether it is of a program that was started and joined the session, not of a fork."""
        return bool(self._lib.tfd_reader_joined(self._reader))

    def is_program(self) -> bool:
        """Return whether the library for programs recorded it: a program without Python."""
        return int(self._lib.tfd_reader_joined(self._reader)) == JOINED_BY_LIBRARY

    def other_user_programs(self) -> int:
        """Count programs that it started, or became, as another user, who may not record themselves."""
        return int(self._lib.tfd_reader_other_user_programs(self._reader))

    def missed_opens(self) -> int:
        """Count opens that did not wait until the process had joined the session, and are not recorded."""
        return int(self._lib.tfd_reader_missed_opens(self._reader))

    def bypasses(self) -> int:
        """Return the ways that it had open to read and write unrecorded: TFD_BYPASS values, added up."""
        return int(self._lib.tfd_reader_bypasses(self._reader))

    def folding(self) -> tuple[int, int]:
        """Return the folding thread's processor time in ns, and how many calls their callers folded."""
        thread_ns, by_callers = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        self._lib.tfd_reader_folding(self._reader, thread_ns, by_callers)
        return thread_ns[0], by_callers[0]

    def patterns_met(self) -> tuple[int, int]:
        """Return which include and exclude patterns a path met: a bit for each of the first 64."""
        include, exclude = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        self._lib.tfd_reader_patterns_met(self._reader, include, exclude)
        return include[0], exclude[0]

    def threads(self, count: int) -> list[ThreadInfo]:
        """Return the first `count` threads."""
        info = self._ffi.new("struct tfd_thread_info *")
        kinds = other_kinds()
        threads = []
        for index in range(count):
            self._check(self._lib.tfd_reader_thread(self._reader, index, info))
            rows = self._ffi.unpack(info.other, len(kinds))
            other = {
                kind: dict(zip(OTHER_FIELDS, row, strict=True)) for kind, row in zip(kinds, rows, strict=True)
            }
            name = _extension.text(info.name)
            threads.append(ThreadInfo(info.tid, name, info.events, info.events_dropped, other))
        return threads

    def mounts(self, count: int) -> list[Mount]:
        """Return the first `count` mounts; a batch's `mount` column indexes them."""
        info = self._ffi.new("struct tfd_mount_info *")
        mounts = []
        for index in range(count):
            self._check(self._lib.tfd_reader_mount(self._reader, index, info))
            point, fs_type, source = map(_extension.text, (info.point, info.fs_type, info.source))
            mounts.append(Mount(point, fs_type, source, info.block_size))
        return mounts

    def failures(self) -> list[FailedCalls]:
        """Return the failed calls by operation and errno."""
        count = self._lib.tfd_reader_failures(self._reader, self._ffi.NULL, 0)
        found = self._ffi.new("struct tfd_failure[]", max(count, 1))
        count = min(count, self._lib.tfd_reader_failures(self._reader, found, count))
        operations = _bridge.operations()
        return [FailedCalls(operations[f.operation].name, f.error, f.calls) for f in found[0:count]]

    def paths(self, files: Array) -> list[str]:
        """Return the paths of file ids; bytes that are not UTF-8 become backslash escapes."""
        path_of, unpack, reader = self._lib.tfd_reader_path, self._ffi.unpack, self._reader
        length = self._ffi.new("size_t *")
        paths = []
        for file in files.tolist():
            pointer = path_of(reader, file, length)
            if pointer and file not in PATHS_OF_NO_FILE:
                paths.append(table_name(unpack(pointer, length[0])))
            else:
                paths.append(PATHS_OF_NO_FILE.get(file, ""))
        return paths

    def record_ids(self, files: Array) -> Array:
        """Return Darshan's record ids of file ids, uint64."""
        record_id, reader = self._lib.tfd_reader_record_id, self._reader
        return np.array([record_id(reader, file) for file in files.tolist()], np.uint64)

    def partly_seen(self) -> int | None:
        """Count the files of which libdarshan missed more than stats.

        None: there are some, and part of the trace was dropped, so that they cannot be folded again.
        """
        count = int(self._lib.tfd_reader_partly_seen(self._reader))
        return None if count < 0 else count

    def unseen_operations(self, batch: FileBatch) -> Array:
        """Return the operations that libdarshan missed of each row, uint32: a bit for each operation."""
        operations = np.zeros(len(batch.file), np.uint32)
        arrays = np.ascontiguousarray(batch.file), np.ascontiguousarray(batch.module), operations
        file, module, found = (
            self._ffi.from_buffer(kind, array, require_writable=array is operations)
            for kind, array in zip(("uint32_t[]", "uint8_t[]", "uint32_t[]"), arrays, strict=True)
        )
        self._lib.tfd_reader_unseen_operations(self._reader, file, module, len(operations), found)
        return operations

    def file_batches(self, rows: int) -> Iterator[FileBatch]:
        """Yield the files table, at most `rows` rows at a time."""
        counts = len(_bridge.counters()), len(_bridge.f_counters())
        first = 0
        while True:
            arrays = {name: np.empty(rows, dtype) for name, dtype in FILE_DTYPES.items()}
            arrays["counters"] = np.empty((rows, counts[0]), np.int64)
            arrays["f_counters"] = np.empty((rows, counts[1]), np.float64)
            filled = self._fill("struct tfd_file_batch *", self._lib.tfd_reader_files, first, rows, arrays)
            if filled == 0:
                return
            cut = {name: array[:filled] for name, array in arrays.items()}
            cut["counters"] = np.ascontiguousarray(cut["counters"].T)
            cut["f_counters"] = np.ascontiguousarray(cut["f_counters"].T)
            yield FileBatch(**cut)
            first += filled

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the segments in order of start, at most `rows` at a time."""
        return self._event_batches(self._lib.tfd_reader_events, rows)

    def thinned(self) -> tuple[int, int]:
        """Return how many thinned calls there are, and their resolution in ns; 0: nothing is thinned."""
        info = self._ffi.new("struct tfd_thinned_info *")
        self._lib.tfd_reader_thinned_info(self._reader, info)
        return int(info.calls), int(info.resolution_ns)

    def thinned_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the thinned calls in order of start, at most `rows` at a time; none of them is a segment."""
        return self._event_batches(self._lib.tfd_reader_thinned, rows)

    def untraced(self) -> dict[str, Array]:
        """Return what calls without a segment did over time: UNTRACED_SUMS, int64, one row per part of time.

        Parts without such calls are left out. Times count from the process's own start; no part ends after
        the process. There are no rows if the spool lacks some of these calls.
        """
        info = self.info()
        rows = self._lib.TFD_UNTRACED_BINS
        sums = {name: np.empty(rows, np.int64) for name in UNTRACED_SUMS}
        rows = self._fill("struct tfd_untraced_batch *", self._lib.tfd_reader_untraced, 0, rows, sums)
        whole = sums["calls"][:rows].sum() == info.events_dropped
        used = np.flatnonzero(sums["calls"][:rows] + sums["busy_ns"][:rows]) if whole else slice(0)
        found = {name: values[used] for name, values in sums.items()}
        end_ns = max(info.duration_ns, 1)
        return found | {
            "start_ns": np.minimum(found["start_ns"], end_ns - 1),
            "end_ns": np.minimum(found["end_ns"], end_ns),
        }

    def _event_batches(self, function: Any, rows: int) -> Iterator[EventBatch]:
        first = 0
        while True:
            arrays = {name: np.empty(rows, dtype) for name, dtype in EVENT_DTYPES.items()}
            filled = self._fill("struct tfd_event_batch *", function, first, rows, arrays)
            if filled == 0:
                return
            yield EventBatch(**{name: array[:filled] for name, array in arrays.items()})
            first += filled

    def faults(self) -> EventBatch:
        """Return the page faults on mapped files that are kept one by one, sorted by start.

        `operation` is none's; `length` is that of a page.
        """
        found = self.mapping()
        rows = 0 if found is None else found.faults_kept
        arrays = {name: np.empty(rows, dtype) for name, dtype in EVENT_DTYPES.items()}
        filled = self._fill("struct tfd_event_batch *", self._lib.tfd_reader_faults, 0, rows, arrays)
        order = np.argsort(arrays["start_ns"][:filled], kind="stable")
        return EventBatch(**{name: array[order] for name, array in arrays.items()})

    def _fill(self, kind: str, function: Any, first: int, rows: int, arrays: dict[str, Array]) -> int:
        batch = self._ffi.new(kind)
        kept = []
        for name, field in self._ffi.typeof(batch[0]).fields:
            pointer = self._ffi.from_buffer(field.type, arrays[name], require_writable=True)
            kept.append(pointer)
            setattr(batch, name, pointer)
        return int(function(self._reader, first, rows, batch))

    def _check(self, code: int) -> None:
        if code < 0:
            why = _extension.last_error() or os.strerror(-code)
            raise SessionDataError(f"the spool {self.path} cannot be read: {why}.")


def other_kinds() -> tuple[str, ...]:
    """Name the kinds of traffic that are counted and in no table."""
    core = _extension.core()
    count = core.ffi.typeof("struct tfd_thread_info").fields
    kinds = dict(count)["other"].type.length
    return tuple(_extension.text(core.lib.tfd_other_kind_name(kind)) for kind in range(kinds))
