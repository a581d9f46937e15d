"""Every table's columns, declared once: name, dtype, unit, meaning.

A session's files carry SCHEMA_VERSION; readers refuse a newer one. The per-file counters are declared in C
(csrc/counters/counters.h) and reach this module through the bridge, so `files_columns()` needs the extension;
everything else here works without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from tfdarshan.native import _bridge

SCHEMA_VERSION = 3
OVERVIEW_BINS = 2048
EVENTS_ROW_GROUP = 131_072
FILES_ROW_GROUP = 65_536
OVERVIEW_ROW_GROUP = 131_072
# Rows handled at a time: their counters fit into the processor's cache.
FILES_BATCH = 4_096
MODULES = ("POSIX", "STDIO")
# Of the files table: MMAP has no calls, but what reads through mappings of a file cost.
FILE_MODULES = (*MODULES, "MMAP")
# Page faults on mapped files: they are no calls, and have a table of their own with the columns of events.
FAULT, FAULT_MODULE = "fault", "MMAP"
# Of `flags`: a thinned call that is its file's first open, and no part of the sample. csrc/spool/event.h.
FIRST_OPEN = 64
# Of files, counters that are moments, in seconds since the session's start, 0 if there is none.
STAMP_SUFFIX = "_TIMESTAMP"
# Seconds that are no moment of a job, and more than all threads of any job spend in calls.
TOO_LATE_S, TOO_LONG_S = 1e9, 1e15
# Times and bytes of a step that nothing says.
UNKNOWN = -1


@dataclass(frozen=True)
class Column:
    """One column: `dtype` is NumPy's name of it, or "str" or "category"."""

    name: str
    dtype: str
    unit: str
    meaning: str


FILE_COLUMNS = (
    Column("file", "uint32", "", "file id within its process, as in events"),
    Column(
        "path",
        "str",
        "",
        "absolute path; bytes that are not UTF-8 appear as backslash escapes, and the backslash of a name "
        "that has such characters itself as \\x5c",
    ),
    Column(
        "module",
        "category",
        "",
        "Darshan's module that counts the calls, POSIX or STDIO; or MMAP: reads through mappings",
    ),
    Column("pid", "int32", "", "process that made the calls"),
    Column("host", "category", "", "host the process ran on"),
    Column("mount_point", "category", "", "mount point the path is below, empty if unknown"),
    Column("fs_type", "category", "", "file-system type of that mount point, empty if unknown"),
    Column("size_bytes", "int64", "B", "file size seen in the session or at its end, -1 if unknown"),
)

EVENT_COLUMNS = (
    Column("start_ns", "int64", "ns", "start of the call since the session's start"),
    Column("end_ns", "int64", "ns", "end of the call since the session's start"),
    Column("pid", "int32", "", "process that made the call"),
    Column("tid", "int32", "", "thread that made the call"),
    Column("operation", "category", "", "kind of call, such as pread; fault: a page fault on a mapped file"),
    Column(
        "module", "category", "", "Darshan's module that counts the call: POSIX or STDIO; MMAP of page faults"
    ),
    Column("file", "uint32", "", "file id within its process; 0 no file, 1 any file beyond the memory cap"),
    Column("offset", "int64", "B", "file position the call began at or led to, -1 if it has none"),
    Column("length", "int64", "B", "bytes moved, mapped or seen; of a fault, its page; 0 for a failed call"),
    Column("error", "int16", "", "errno of a failed call, 0 on success"),
    Column(
        "flags",
        "uint8",
        "",
        "1 unaligned memory, 2 append (offset estimated), 4 open with truncation, 32 a page fault that began "
        "to read from storage, 64 first open",
    ),
)

EVENT_PATH = Column("path", "category", "", "path of the file, joined from the files table; empty if none")

OVERVIEW_COLUMNS = (
    Column("bin", "int32", "", "bin number, 0 to overview.bins - 1 of the metadata"),
    Column("tid", "int32", "", "thread; 0 gathers threads beyond the busiest 255"),
    Column("operation", "category", "", "kind of call"),
    Column("count", "int64", "calls", "calls that started in the bin"),
    Column("bytes", "int64", "B", "bytes moved, each call's spread evenly over its duration"),
    Column("busy_ns", "int64", "ns", "time the thread spent in such calls within the bin"),
)

UNTRACED_COLUMNS = (
    Column("start_ns", "int64", "ns", "start of a part of time since the session's start"),
    Column("end_ns", "int64", "ns", "its end"),
    Column("calls", "int64", "calls", "calls without a segment that started in the part"),
    Column("bytes_read", "int64", "B", "bytes that they read, each call's spread evenly over its duration"),
    Column("bytes_written", "int64", "B", "bytes that they wrote, likewise"),
    Column("busy_ns", "int64", "ns", "time that all threads spent in them within the part"),
)

STEP_COLUMNS = (
    Column("step", "int64", "", "step number"),
    Column("epoch", "int64", "", "epoch that it is of, from 1 on, -1 if unknown"),
    Column("start_ns", "int64", "ns", "start of the step since the session's start"),
    Column("end_ns", "int64", "ns", "end of the step since the session's start"),
    Column("input_wait_ns", "int64", "ns", "time the job waited for its next batch, -1 if unknown"),
    Column(
        "exposed_wait_ns", "int64", "ns", "part of the input wait in which the GPU was idle, -1 if unknown"
    ),
    Column("io_ns", "int64", "ns", "time in which at least one call was running, -1 if unknown"),
    Column(
        "fault_ns",
        "int64",
        "ns",
        "time within the step in which at least one thread was in a page fault on a mapped file, of the "
        "faults that were kept one by one; -1 if none was",
    ),
    Column("bytes_read", "int64", "B", "bytes read by calls of the step, -1 if unknown"),
    Column("bytes_written", "int64", "B", "bytes written by calls of the step, -1 if unknown"),
    Column("operations", "int64", "calls", "calls that began in the step, -1 if unknown"),
    Column("rchar", "int64", "B", "bytes that read calls of the process returned meanwhile, -1 if unknown"),
    Column("read_bytes", "int64", "B", "bytes fetched from storage for the process meanwhile, -1 if unknown"),
    Column("source", "category", "", "what says where the step begins and ends"),
)

# What a session's table of steps has; the other columns are looked up in its calls when the steps are read.
MARK_COLUMNS = tuple(
    column
    for column in STEP_COLUMNS
    if column.name
    in (
        "step", "epoch", "start_ns", "end_ns", "input_wait_ns", "exposed_wait_ns", "rchar", "read_bytes",
        "source",
    )
)  # fmt: skip
# Columns that the table of steps has in sessions of every version.
FIRST_MARK_COLUMNS = tuple(column for column in MARK_COLUMNS if column.name != "exposed_wait_ns")

# Batches that loaders handed to the process's loop, as far as the framework tells.
BATCH_COLUMNS = (
    Column("loader", "int64", "", "place of the loader in the metadata's `loaders`, -1 if unknown"),
    Column("epoch", "int64", "", "epoch of its loader, from 1 on, -1 if none"),
    Column("batch", "int64", "", "number of the batch in the pass, from 0 on"),
    Column("tid", "int64", "", "thread that asked for the batch"),
    Column("request_ns", "int64", "ns", "when the batch was requested, since the session's start"),
    Column("arrival_ns", "int64", "ns", "when the batch came"),
    Column("worker", "int64", "", "number of the worker that put the batch together, -1 for none"),
    Column("fetch_pid", "int64", "", "process that put the batch together, -1 if unknown"),
    Column("fetch_tid", "int64", "", "thread that did, -1 if unknown"),
    Column("fetch_start_ns", "int64", "ns", "when it began to, -1 if unknown"),
    Column("fetch_end_ns", "int64", "ns", "when it had the batch, -1 if unknown"),
    Column("queued", "int64", "batches", "batches that lay in the queue when this one was requested"),
    Column("kept", "int64", "batches", "batches that were kept aside then, as it was not their turn"),
)
# What is joined to them when they are read: a session of several ranks has the batches of each.
BATCH_RANK = Column("rank", "int64", "", "rank whose loop took the batch, -1 in a session without ranks")

# What an imported Darshan log may have besides MODULES; FIFO and SOCKET are what we make of its names.
LAYERS = ("MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "LUSTRE", "FIFO", "SOCKET")
LAYER_COLUMNS = (
    Column(
        "module",
        "category",
        "",
        "MPI-IO, H5F and H5D (HDF5's files and data sets), PNETCDF_FILE, PNETCDF_VAR, LUSTRE (a file's "
        "striping), or FIFO or SOCKET: calls that are no file's and are left out of the files table",
    ),
    Column("path", "str", "", "the file's path, or the file's and the data set's name"),
    Column("rank", "int64", "", "rank, -1 for what all ranks shared"),
    Column("opens", "int64", "calls", "opens and creates; null if the module does not count them, as below"),
    Column("reads", "int64", "calls", "reads: independent, collective, split and non-blocking"),
    Column("writes", "int64", "calls", "the same of writes"),
    Column("collective", "int64", "calls", "collective reads and writes among them"),
    Column("bytes_read", "int64", "B", "bytes read"),
    Column("bytes_written", "int64", "B", "bytes written"),
    Column("read_s", "float64", "s", "time in reads, added up over ranks"),
    Column("write_s", "float64", "s", "time in writes, added up over ranks"),
    Column("meta_s", "float64", "s", "time in opens, closes and the like, added up over ranks"),
    Column("stripe_count", "int64", "", "LUSTRE: stripes of the file"),
    Column("stripe_size_bytes", "int64", "B", "LUSTRE: size of a stripe"),
    Column("osts", "str", "", "LUSTRE: object storage targets (OSTs) of the stripes, with commas between"),
)


@lru_cache(maxsize=1)
def counter_columns() -> tuple[Column, ...]:
    """Return the files table's integer counters, named as in Darshan's log formats."""
    return tuple(Column(c.name, "int64", c.unit, c.meaning) for c in _bridge.counters())


@lru_cache(maxsize=1)
def f_counter_columns() -> tuple[Column, ...]:
    """Return the files table's floating-point counters: seconds, since session start or summed."""
    return tuple(Column(c.name, "float64", c.unit, c.meaning) for c in _bridge.f_counters())


def limit_of(name: str) -> float:
    """Return what a floating-point counter stays below; infinity for one that is no time."""
    if name.endswith(STAMP_SUFFIX):
        return TOO_LATE_S
    return math.inf if "_VARIANCE_" in name else TOO_LONG_S


def files_columns() -> tuple[Column, ...]:
    """Return all columns of the files table: one row per file and module."""
    return FILE_COLUMNS + counter_columns() + f_counter_columns()
