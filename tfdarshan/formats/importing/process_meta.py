"""The metadata of a process of a log: None for times that the log does not tell."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import union_ns
from tfdarshan.file_name import exact_name
from tfdarshan.formats.importing.imported_log import ImportedLog
from tfdarshan.formats.importing.layers import shown_layers
from tfdarshan.formats.importing.ranks import SHARED, RankData
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import OTHER_FIELDS
from tfdarshan.native.versions import VERSION
from tfdarshan.sessions import schema

ENGINE = "darshan log"
# What stands before the colon is all that a summary says.
NEVER_KNOWN = (
    "failed calls: nor unlinks, truncates, the length of mappings, copies inside the kernel",
    "file sizes: nor stats that Darshan's version does not hook",
    "wall-clock times: of opens, stats, closes and STDIO calls",
    "coverage: nothing says what the kernel charged, and so how much the log did not see",
)
CALLS = {
    "POSIX": (
        "POSIX_OPENS", "POSIX_READS", "POSIX_WRITES", "POSIX_SEEKS", "POSIX_STATS", "POSIX_MMAPS",
        "POSIX_FSYNCS", "POSIX_FDSYNCS",
    ),
    "STDIO": ("STDIO_OPENS", "STDIO_READS", "STDIO_WRITES", "STDIO_SEEKS", "STDIO_FLUSHES"),
}  # fmt: skip


def process_meta(
    directory: Path, source: ImportedLog, process: RankData, notes: Sequence[str], tables: dict[str, Any]
) -> dict[str, Any]:
    """Return the metadata of one process; `notes` is what `not_known` says."""
    content, log = source.content, source.log
    library = content.metadata.get("lib_ver", "")
    return {
        "schema_version": schema.SCHEMA_VERSION,
        "session": directory.name,
        "owner": False,
        "host": _host(source, process),
        "pid": process.pid,
        "parent_pid": 0,
        "command": content.command,
        "stopped": True,
        "origin_realtime_ns": content.start_realtime_ns,
        "start_realtime_ns": content.start_realtime_ns,
        "start_ns": 0,
        "duration_ns": source.duration_ns,
        "engine": {"name": ENGINE, "version": library or log.version, "source": str(source.path)},
        "versions": {"tfdarshan": VERSION, "pydarshan": content.reader_version, "darshan": library},
        "options": {},
        "counts": _counts(source, process, tables),
        "time": _times(source, process),
        "kernel": {"valid": False, "counted": "own"}
        | dict.fromkeys(("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"), 0),
        "other": {"unknown": dict.fromkeys(OTHER_FIELDS, 0)},
        "threads": [],
        "failures": [],
        "mounts": [
            {"point": point, "fs_type": fs_type, "source": "", "block_size": 0}
            for point, fs_type in content.mounts
        ],
        "operations": [dataclasses.asdict(operation) for operation in _bridge.operations()],
        "bounds": [],
        "tables": tables,
        "darshan": {
            "rank": process.rank,
            "ranks": list(process.pids),
            "pids": list(process.pids.values()),
            "hosts": source.hosts_of(_ranks(source, process)),
            "records": _records(source, process),
            "log_version": log.version,
            "uid": content.user,
            "job": content.job,
            "processes": content.processes,
            "metadata": content.metadata,
            "modules": [*content.records, *shown_layers(log)],
            "not_known": list(notes),
        },
    }


def _records(source: ImportedLog, process: RankData) -> dict[str, int]:
    """Return the records, by file, whose names do not say their number: those of an anonymised log."""
    content, names = source.content, source.log.names
    used = {
        row for module, rows in process.rows.items() for row in content.records[module].record[rows].tolist()
    }
    return {
        str(process.files[record]): record
        for record in sorted(used)
        if _bridge.record_id(os.fsencode(exact_name(names.get(record, "")))) != record
    }


def _ranks(source: ImportedLog, process: RankData) -> list[int]:
    """Return the ranks of a process, and those whose segments it has: of shared files, all that say any."""
    segments = source.segments
    seen = set() if segments is None else set(np.unique(segments.rank[process.segments]).tolist())
    return [*process.pids, *sorted(seen - process.pids.keys())]


def _host(source: ImportedLog, process: RankData) -> str:
    first, *others = source.hosts_of(process.pids)
    return f"{first} and {len(others):,} more" if others else first


def _counts(source: ImportedLog, process: RankData, tables: dict[str, Any]) -> dict[str, int]:
    records = source.content.records
    files = {row for module, rows in process.rows.items() for row in records[module].record[rows].tolist()}
    calls = 0
    for module, rows in process.rows.items():
        for name in CALLS[module]:
            calls += int(np.maximum(records[module].counters[name][rows], 0).sum())
    zero = dict.fromkeys(("events_dropped", "files_over_cap", "spool_bytes", "spool_full", "damaged"), 0)
    return {"files": len(files), "events": calls, "segments": tables["events"]["rows"], **zero}


def _times(source: ImportedLog, process: RankData) -> dict[str, int | None]:
    """Return the wall-clock times that the segments of a complete trace tell; None for the others."""
    times: dict[str, int | None] = dict.fromkeys(
        ("io_ns", "read_ns", "write_ns", "meta_ns", "thread_ns", "first_event_ns", "last_event_ns")
    )
    records, segments = source.content.records, source.segments
    for name, counters, is_read in (
        ("read_ns", ("READS",), True),
        # Here a sync is a write, and the log has no segments of it.
        ("write_ns", ("WRITES", "FSYNCS", "FDSYNCS"), False),
    ):
        counted = {
            module: sum(
                int(np.maximum(records[module].counters[f"{module}_{counter}"][rows], 0).sum())
                for counter in counters
                if f"{module}_{counter}" in records[module].counters
            )
            for module, rows in process.rows.items()
        }
        if segments is None:
            traced = np.zeros(0, np.int64)
        else:
            traced = process.segments[segments.is_read[process.segments] == is_read]
        if not counted.get("STDIO") and counted.get("POSIX", 0) == len(traced):
            times[name] = (
                0 if segments is None else union_ns(segments.start_ns[traced], segments.end_ns[traced])
            )
    return times


def not_known(source: ImportedLog, processes: Sequence[RankData]) -> list[str]:
    """Name what the log does not say and a recorded session would."""
    content = source.content
    notes = list(NEVER_KNOWN)
    if source.segments is None:
        notes.insert(0, "segments: the log has no DXT_POSIX records, so no reads of nothing either")
    else:
        notes.insert(
            0,
            "other segments: of calls that are no POSIX reads or writes; nor a segment's kind",
        )
        if not source.segments.thread.any():
            notes.insert(1, "threads: the log's segments do not tell them apart")
    shown = shown_layers(source.log)
    left_out = [name for name in content.other_modules if name not in shown]
    if left_out:
        notes.append(f"{', '.join(left_out)}: these records were left out")
    if any(process.rank == SHARED for process in processes):
        notes.append("ranks of shared files: these are process -1 of the session")
    return notes
