"""Writes sessions of any size with any numbers in them, in the format that recorded sessions have."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.undurable import undurable
from tfdarshan.native import _bridge
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_directory import write_json
from tfdarshan.sessions.writing.tables import dictionary_array, parquet_file

SECOND_NS = 1_000_000_000
KERNEL = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")


@dataclass(frozen=True, kw_only=True)
class SyntheticRun:
    """What is no table. `events` are rows of tid, operation, file, length, start and end in seconds."""

    duration_s: float
    io_s: float
    thread_s: float
    readers: int = 1
    read_bytes: int | None = None
    mount: tuple[str, str] = ("/data", "nfs4")
    events: Sequence[tuple[int, str, int, int, float, float]] = ()
    pid: int = 1000
    owner: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)


@undurable()
def write_session(
    directory: Path,
    run: SyntheticRun,
    rows: int,
    paths: Callable[[int, int], Sequence[str]],
    counters: Callable[[int, int], Mapping[str, Any]],
) -> Path:
    """Write one process of a session.

    Args:
        directory: The session's directory.
        run: What is no table.
        rows: Files, each with one row of module POSIX.
        paths: Gives the paths of rows `first` to `last`.
        counters: Gives `size_bytes` and counters of such rows; those it does not name are 0.
    """
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"node.{run.pid}"
    _write_files(directory / f"{stem}.files.parquet", run, rows, paths, counters)
    _write_events(directory / f"{stem}.events.parquet", run)
    _write_overview(directory / f"{stem}.overview.parquet", run)
    tables: dict[str, Any] = {
        name: {"file": f"{stem}.{name}.parquet", "rows": rows} for name in ("files", "events", "overview")
    }
    tables["overview"] |= {"bins": 1, "bin_ns": int(run.duration_s * SECOND_NS), "start_ns": 0}
    write_json(directory / f"{stem}.meta.json", _meta(run, rows) | {"tables": tables} | dict(run.extra))
    return directory


def _write_files(path: Path, run: SyntheticRun, rows: int, paths: Any, counters: Any) -> None:
    columns = schema.files_columns()
    with parquet_file(path, columns, row_group=schema.FILES_ROW_GROUP) as write:
        for first in range(0, rows, schema.FILES_ROW_GROUP):
            last = min(rows, first + schema.FILES_ROW_GROUP)
            same = np.zeros(last - first, np.int8)
            places = same.astype(np.int32)
            given = {
                "file": pa.array(np.arange(first + 2, last + 2, dtype=np.uint32)),
                "path": pa.array(paths(first, last), pa.string()),
                "module": dictionary_array(same, ["POSIX"]),
                "pid": pa.array(np.full(last - first, run.pid, np.int32)),
                "host": dictionary_array(same, ["node"]),
                "mount_point": dictionary_array(places, [run.mount[0]]),
                "fs_type": dictionary_array(places, [run.mount[1]]),
            }
            known = counters(first, last)
            zeros = {kind: pa.array(np.zeros(last - first, kind)) for kind in ("int64", "float64")}
            for column in columns:
                if column.name in known:
                    given[column.name] = pa.array(np.asarray(known[column.name], column.dtype))
            write([given.get(column.name, zeros.get(column.dtype)) for column in columns])


def _write_events(path: Path, run: SyntheticRun) -> None:
    events = sorted(run.events, key=lambda event: event[4])
    tid, name, file, length, start, end = zip(*events, strict=True) if events else ((),) * 6
    names = [operation.name for operation in _bridge.operations()]
    same = np.zeros(len(events), np.int8)
    with parquet_file(path, schema.EVENT_COLUMNS, row_group=schema.EVENTS_ROW_GROUP) as write:
        columns = {
            "start_ns": np.array([int(s * SECOND_NS) for s in start], np.int64),
            "end_ns": np.array([int(s * SECOND_NS) for s in end], np.int64),
            "pid": np.full(len(events), run.pid, np.int32),
            "tid": np.array(tid, np.int32),
            "operation": dictionary_array(np.array([names.index(n) for n in name], np.int8), names),
            "module": dictionary_array(same, ["POSIX"]),
            "file": np.array(file, np.uint32),
            "offset": np.zeros(len(events), np.int64),
            "length": np.array(length, np.int64),
            "error": np.zeros(len(events), np.int16),
            "flags": np.zeros(len(events), np.uint8),
        }
        write(
            [
                columns[c.name] if c.dtype == "category" else pa.array(columns[c.name])
                for c in schema.EVENT_COLUMNS
            ]
        )


def _write_overview(path: Path, run: SyntheticRun) -> None:
    """Write one bin in which every reader is busy equally long."""
    threads = np.arange(1, run.readers + 1, dtype=np.int32)
    busy = np.full(run.readers, int(run.thread_s / run.readers * SECOND_NS), np.int64)
    ones = np.ones(run.readers, np.int64)
    with parquet_file(path, schema.OVERVIEW_COLUMNS, row_group=schema.OVERVIEW_ROW_GROUP) as write:
        write(
            [
                pa.array(np.zeros(run.readers, np.int32)),
                pa.array(threads),
                dictionary_array(np.zeros(run.readers, np.int8), ["pread"]),
                pa.array(ones),
                pa.array(ones),
                pa.array(busy),
            ]
        )


def _meta(run: SyntheticRun, rows: int) -> dict[str, Any]:
    io_ns, duration_ns = int(run.io_s * SECOND_NS), int(run.duration_s * SECOND_NS)
    kernel = dict.fromkeys(KERNEL, 0) | {"read_bytes": run.read_bytes or 0}
    return {
        "schema_version": schema.SCHEMA_VERSION,
        "owner": run.owner,
        "host": "node",
        "pid": run.pid,
        "start_ns": 0,
        "duration_ns": duration_ns,
        "counts": {"files": rows, "events": rows, "segments": len(run.events)},
        "time": {
            "io_ns": io_ns,
            "read_ns": io_ns,
            "write_ns": 0,
            "meta_ns": 0,
            "thread_ns": int(run.thread_s * SECOND_NS),
        },
        "kernel": kernel | {"valid": run.read_bytes is not None, "counted": "own"},
        "threads": [],
        "mounts": [],
        "operations": [dataclasses.asdict(operation) for operation in _bridge.operations()],
        "bounds": [],
    }
