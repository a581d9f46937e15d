"""The columns of a fleet's catalogue, one row a job: declared once, with types, units and meanings.

CATALOGUE_VERSION goes up where a column changes its meaning, or another one is there: rows of older versions
are read again, and a newer catalogue is refused. A null is unknown, never 0.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tfdarshan.sessions.schema import Column

CATALOGUE_VERSION = 2

# What became of an input. Only READ rows have figures that count.
READ, NO_RECORDS, RECORDING, INTERRUPTED = "read", "no_records", "recording", "interrupted"
DAMAGED, NEWER, UNREADABLE, VANISHED = "damaged", "newer_version", "unreadable", "vanished"
STATES = (READ, NO_RECORDS, RECORDING, INTERRUPTED, DAMAGED, NEWER, UNREADABLE, VANISHED)
SESSION, LOG = "session", "darshan_log"

# What a job did on one mount: the entries of the column `mounts`.
MOUNT_FIELDS = (
    ("mount_point", "str"), ("fs_type", "str"), ("files", "int64"), ("opens", "int64"), ("stats", "int64"),
    ("bytes_read", "int64"), ("bytes_written", "int64"), ("read_s", "float64"), ("write_s", "float64"),
    ("meta_s", "float64"),
)  # fmt: skip

JOB_COLUMNS = (
    Column("input", "str", "", "the session's folder or the log, an absolute path"),
    Column("kind", "str", "", f"{SESSION} or {LOG}"),
    Column("state", "str", "", f"what became of it: {', '.join(STATES)}; only rows that are {READ} count"),
    Column("note", "str", "", "why its figures are missing, or not to be had again"),
    Column("fingerprint", "str", "", "sizes and times of its files: another if it changed"),
    Column("catalogued_ns", "int64", "ns", "when the row was written, since the epoch"),
    Column("user", "str", "", "who ran it: a session's owner, or whom the log's name says"),
    Column("uid", "int64", "", "the number of the user; of the folder's owner for a session"),
    Column("project", "str", "", "`project` or `account` of a log's metadata"),
    Column("application", "str", "", "the program: the script or module of an interpreter, else the file"),
    Column("command", "str", "", "the command line"),
    Column("job", "str", "", "the job's number or name, as its launcher or scheduler has it"),
    Column("hosts", "str", "", "the hosts, with commas between; the DXT part of a log alone says them"),
    Column("nodes", "int64", "", "how many hosts that is"),
    Column("start", "timestamp", "UTC", "when it began"),
    Column("duration_s", "float64", "s", "how long it lasted"),
    Column("processes", "int64", "", "its processes; those of a log are the ranks"),
    Column("files", "int64", "", "files used, each counted once a process, as `tfdarshan summary` does"),
    Column("opens", "int64", "calls", "opens, POSIX and STDIO"),
    Column("reads", "int64", "calls", "reads, POSIX and STDIO"),
    Column("writes", "int64", "calls", "writes, POSIX and STDIO"),
    Column("stats", "int64", "calls", "stat calls"),
    Column("syncs", "int64", "calls", "fsyncs, fdatasyncs and flushes"),
    Column("bytes_read", "int64", "B", "bytes read through POSIX and STDIO, and copied in the kernel"),
    Column("bytes_written", "int64", "B", "bytes written likewise"),
    Column("read_s", "float64", "s", "time in reads, added up over files and processes"),
    Column("write_s", "float64", "s", "time in writes, likewise"),
    Column("meta_s", "float64", "s", "time in opens, stats, seeks, closes and syncs, likewise"),
    Column("io_s", "float64", "s", "wall-clock time in which at least one call was running"),
    Column("steps_s", "float64", "s", "time of all training steps"),
    Column("input_wait_s", "float64", "s", "what of it the steps waited for input"),
    Column("device_copy_s", "float64", "s", "what of it went into copies from the host to the device"),
    Column("communication_s", "float64", "s", "what of it went into communication"),
    Column("checkpoint_stall_s", "float64", "s", "time in which checkpoints held steps up"),
    Column("small_reads", "int64", "calls", "POSIX reads of at most 10 KiB; of logs with the empty ones"),
    Column("small_read_share", "float64", "", "their share of the POSIX reads"),
    Column("reread_bytes", "int64", "B", "bytes read beyond the highest offset read of each file, at least"),
    Column("reread_share", "float64", "", "their share of `bytes_read`"),
    Column("cached_bytes", "int64", "B", "what of the bytes read the page cache gave, at least; of no log"),
    Column("cached_share", "float64", "", "its share of `bytes_read`"),
    Column("mount_point", "str", "", "the mount with most bytes"),
    Column("fs_type", "str", "", "its file system's type"),
    Column("mounts", "mounts", "", "all mounts: " + ", ".join(name for name, _ in MOUNT_FIELDS)),
    Column("input_folder", "str", "", "the deepest folder that has 80 % of the bytes read"),
    Column("input_bytes_read", "int64", "B", "bytes read below it"),
    Column("input_unique_bytes", "int64", "B", "the same, each file's up to the highest offset read once"),
    Column("input_read_s", "float64", "s", "time in reads below it, added up"),
    Column("verdict", "str", "", "slow, healthy, suspect or unknown; null where nobody looked for findings"),
    Column("finding", "str", "", "the first finding, empty where there is none; null likewise"),
    Column("finding_title", "str", "", "that finding in a few words"),
    Column("finding_cost_s", "float64", "s", "what it costs of the whole job"),
    Column("finding_gain_s", "float64", "s", "what its fix is expected to give back of the whole job"),
    Column("finding_gain_low_s", "float64", "s", "what it gives back at least"),
    Column("finding_gain_high_s", "float64", "s", "what it gives back at most"),
    Column("doubts", "texts", "", "what makes the figures less than certain: records or processes missing"),
)
NAMES = tuple(column.name for column in JOB_COLUMNS)

_TYPES: dict[str, Any] = {
    "str": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "timestamp": pa.timestamp("ns", tz="UTC"),
    "texts": pa.list_(pa.string()),
}
_TYPES["mounts"] = pa.list_(pa.struct([(name, _TYPES[kind]) for name, kind in MOUNT_FIELDS]))
ARROW_SCHEMA = pa.schema([(column.name, _TYPES[column.dtype]) for column in JOB_COLUMNS])
