"""Writes sessions of made-up calls in the real format, by the package's own writers.

The per-file counters are worked out here, from the calls, apart from the package.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tests.undurable import undurable
from tfdarshan.native import _bridge
from tfdarshan.native.process_reader import ProcessReader
from tfdarshan.native.spool_reader import (
    EVENT_DTYPES,
    EventBatch,
    FileBatch,
    Mount,
    SpoolInfo,
    SpoolReader,
    ThreadInfo,
)
from tfdarshan.recording.writing.gathering import gathering
from tfdarshan.session import Session, open_session
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_directory import META_SUFFIX, write_json
from tfdarshan.sessions.writing.overview_table import Overview
from tfdarshan.sessions.writing.tables import Process, write_events, write_files, write_overview

FIRST_FILE = 2
HOST = "made-up"
OPERATIONS = {operation.name: code for code, operation in enumerate(_bridge.operations())}
SIZE_NAMES = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
SIZE_LIMITS = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
MOUNTS = [Mount("/", "ext4", "/dev/sda1", 4096), Mount("/data", "nfs", "server:/data", 4096)]


@dataclass(frozen=True)
class Job:
    """One process's calls: columns as in the events table, `file` counted from 0, and its files."""

    columns: dict[str, np.ndarray]
    paths: Sequence[str]
    size_bytes: np.ndarray
    duration_ns: int
    pid: int = 100
    threads: dict[int, str] = field(default_factory=dict)
    kernel: dict[str, int] | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def job_of(calls: Sequence[tuple], paths: Sequence[str], sizes: Sequence[int], **more) -> Job:
    """Make a job of (start_ns, end_ns, tid, operation, file, length) or with an offset after these."""
    rows = sorted((*call, 0)[:7] for call in calls)
    names = ("start_ns", "end_ns", "tid", "operation", "file", "length", "offset")
    lists: dict[str, Sequence[Any]] = (
        dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    )
    lists["operation"] = tuple(OPERATIONS[name] for name in lists["operation"])
    columns = {
        name: np.array(lists.get(name, [0] * len(rows)), dtype) for name, dtype in EVENT_DTYPES.items()
    }
    end = max((call[1] for call in calls), default=0)
    more.setdefault("duration_ns", end + 1)
    return Job(columns, paths, np.array(sizes, np.int64), **more)


def image_job(files: int, epochs: int, threads: int, *, seed: int = 0, reads: int = 2) -> Job:
    """Make epochs of reading `files` files whole: open, `reads` preads, one that is empty, close.

    Each thread reads one file after the other; it has files * epochs / threads of them.
    """
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(11.4, 0.7, files)).astype(np.int64) + reads
    order = np.concatenate([rng.permutation(files) for _ in range(epochs)])
    steps = ["open", *["pread"] * reads, "pread", "close"]
    calls = len(order) * len(steps)
    operation = np.tile(np.array([OPERATIONS[name] for name in steps], np.uint8), len(order))
    file = np.repeat(order, len(steps))
    part = np.tile(np.arange(len(steps)) - 1, len(order))
    share = size[file] // reads
    length = np.where((part >= 0) & (part < reads), share, 0)
    length += np.where(part == reads - 1, size[file] - share * reads, 0)
    offset = np.where(part >= 0, np.minimum(part * share, size[file]), 0)
    offset[part == reads] = size[file][part == reads]
    taken = np.where(length > 0, 40_000 + length, 2_000) + rng.integers(0, 3_000, calls)
    tid = np.repeat(np.arange(len(order)) % threads, len(steps)) + 1000
    start = np.zeros(calls, np.int64)
    for thread in range(threads):
        mine = tid == thread + 1000
        start[mine] = np.cumsum(taken[mine] + 500) - taken[mine]
    in_order = np.argsort(start, kind="stable")
    columns = {
        "start_ns": start, "end_ns": start + taken, "tid": tid, "operation": operation,
        "flags": np.zeros(calls), "error": np.zeros(calls), "file": file, "offset": offset, "length": length,
    }  # fmt: skip
    columns = {name: values[in_order].astype(EVENT_DTYPES[name]) for name, values in columns.items()}
    paths = [f"/data/train/class-{number % 100:02}/{number:07}.jpg" for number in range(files)]
    names = {1000 + thread: f"tf_data_{thread}" for thread in range(threads)}
    return Job(columns, paths, size, int(columns["end_ns"].max()) + 1, threads=names)


@undurable()
def write_job(directory: Path, job: Job, *, owner: bool = True) -> None:
    """Write one process's files into a session directory."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"{HOST}.{job.pid}"
    process = Process(job.pid, HOST, 0, MOUNTS)
    source = _Source(job)
    reader = cast(ProcessReader, source)  # as far as the tables need it
    overview = Overview(job.duration_ns, source.threads(), len(OPERATIONS))
    rows = {
        "files": write_files(reader, process, directory / f"{stem}.files.parquet"),
        "events": write_events(reader, process, directory / f"{stem}.events.parquet", overview),
        "overview": write_overview(overview, directory / f"{stem}.overview.parquet"),
    }
    tables = {name: {"file": f"{stem}.{name}.parquet", "rows": count} for name, count in rows.items()}
    tables["overview"] |= {"bins": schema.OVERVIEW_BINS, "bin_ns": overview.bin_ns, "start_ns": 0}
    meta = _meta(directory, job, source, tables, owner=owner) | job.meta
    write_json(directory / f"{stem}{META_SUFFIX}", meta)


@undurable()
def write_session(
    logdir: Path, *jobs: Job, stamp: str = "2024_01_01_00_00_00", gathered: Sequence[Job] = ()
) -> Session:
    """Write a session of one or more processes and open it; those in `gathered` share their files."""
    directory = logdir / "plugins" / "tfdarshan" / stamp
    children = {"children": {"recorded": len(jobs) - 1 + len(gathered), "gathered": len(gathered)}}
    for place, job in enumerate(jobs):
        meta = job.meta if place or not gathered else {**children, **job.meta}
        write_job(directory, dataclasses.replace(job, meta=meta), owner=place == 0)
    with gathering(directory, HOST) as together:
        for job in gathered:
            source = _Source(job)
            reader = cast(SpoolReader, source)
            process = Process(job.pid, HOST, 0, MOUNTS)
            segments = len(job.columns["start_ns"])
            info = SimpleNamespace(file_rows=2 * len(job.paths), segments=segments, events_dropped=0)
            tables = together.add_tables(process, reader, cast(SpoolInfo, info))
            together.add(_meta(directory, job, source, tables, owner=False) | job.meta)
    return open_session(directory)


def _meta(directory, job, source, tables, *, owner):
    events = len(job.columns["start_ns"])
    kernel = job.kernel or {"rchar": 0, "read_bytes": 0}
    times = _wall_clock(job.columns)
    return {
        "schema_version": schema.SCHEMA_VERSION, "session": directory.name, "owner": owner, "host": HOST,
        "pid": job.pid, "parent_pid": 1, "command": "python train.py", "stopped": True,
        "origin_realtime_ns": 1_700_000_000_000_000_000, "start_realtime_ns": 1_700_000_000_000_000_000,
        "start_ns": 0, "duration_ns": job.duration_ns,
        "engine": {"name": "builtin", "version": "0", "source": "tests"}, "versions": {}, "options": {},
        "counts": {"files": len(job.paths), "events": events, "segments": events, "events_dropped": 0,
                   "files_over_cap": 0, "spool_bytes": 0, "spool_full": 0, "damaged": 0},
        "time": times | {"thread_ns": int((job.columns["end_ns"] - job.columns["start_ns"]).sum())},
        "kernel": {"valid": job.kernel is not None, "counted": "own", "wchar": 0, "write_bytes": 0} | kernel,
        "other": {}, "failures": [], "bounds": [],
        "threads": [{"tid": t.tid, "name": t.name, "events": t.events} for t in source.threads()],
        "mounts": [dataclasses.asdict(mount) for mount in MOUNTS],
        "operations": [dataclasses.asdict(operation) for operation in _bridge.operations()],
        "tables": tables,
    }  # fmt: skip


def _wall_clock(columns):
    classes = np.array([operation.io_class for operation in _bridge.operations()])[columns["operation"]]
    times = {}
    for name in ("io", "read", "write", "meta"):
        chosen = slice(None) if name == "io" else classes == name
        start, end = columns["start_ns"][chosen], np.maximum.accumulate(columns["end_ns"][chosen])
        before = np.concatenate([start[:1], end[:-1]])
        times[f"{name}_ns"] = int(np.maximum(end - np.maximum(start, before), 0).sum())
    return times


class _Source:
    """Stands for a spool: what the package's writers read from."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._counters = _fold(job)

    def threads(self) -> list[ThreadInfo]:
        tids, counts = np.unique(self._job.columns["tid"], return_counts=True)
        return [
            ThreadInfo(tid, self._job.threads.get(tid, ""), count, 0, {})
            for tid, count in zip(tids.tolist(), counts.tolist(), strict=True)
        ]

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        columns = self._job.columns | {"file": self._job.columns["file"] + FIRST_FILE}
        for first in range(0, len(columns["start_ns"]), rows):
            yield EventBatch(**{name: columns[name][first : first + rows] for name in EVENT_DTYPES})

    def paths(self, files: np.ndarray) -> list[str]:
        return [self._job.paths[file - FIRST_FILE] for file in files.tolist()]

    def file_batches(self, rows: int) -> Iterator[FileBatch]:
        names = [column.name for column in schema.counter_columns()]
        f_names = [column.name for column in schema.f_counter_columns()]
        for module, counters in enumerate(self._counters):
            present = np.flatnonzero(counters.pop("present"))
            for first in range(0, len(present), rows):
                file = present[first : first + rows]
                whole, real = np.zeros((len(names), len(file)), np.int64), np.zeros((len(f_names), len(file)))
                for name, values in counters.items():
                    if name in names:
                        whole[names.index(name)] = values[file]
                    else:
                        real[f_names.index(name)] = values[file]
                on_data = np.array([self._job.paths[f].startswith("/data/") for f in file.tolist()])
                yield FileBatch(
                    (file + FIRST_FILE).astype(np.uint32),
                    np.full(len(file), module, np.uint8),
                    on_data.astype(np.int32),
                    self._job.size_bytes[file],
                    whole,
                    real,
                )


def _fold(job: Job) -> list[dict[str, np.ndarray]]:
    """Work out the counters of both modules: calls, bytes, sizes, times."""
    columns, count = job.columns, len(job.paths)
    kinds = _bridge.operations()
    folded = []
    for module in schema.MODULES:
        counters = {}
        of_module = np.array([kind.module == module for kind in kinds])[columns["operation"]]
        classes = np.array([kind.io_class for kind in kinds])[columns["operation"]]
        names = np.array([kind.name for kind in kinds])[columns["operation"]]

        def tally(chosen, weight=None):
            weights = None if weight is None else weight[chosen]
            return np.bincount(columns["file"][chosen], weights, minlength=count)

        reads, writes = of_module & (classes == "read"), of_module & (classes == "write")
        writes &= ~np.isin(names, ("fsync", "fdatasync", "fflush"))
        counters["present"] = tally(of_module)
        counters[f"{module}_OPENS"] = tally(of_module & np.isin(names, ("open", "fopen")))
        for name, chosen in (("READ", reads), ("WRITE", writes)):
            moved = "BYTES_READ" if name == "READ" else "BYTES_WRITTEN"
            counters[f"{module}_{name}S"] = tally(chosen)
            counters[f"{module}_{moved}"] = tally(chosen, columns["length"]).astype(np.int64)
        if module == "POSIX":
            counters["POSIX_STATS"] = tally(of_module & np.isin(names, ("stat", "fstat")))
            counters["POSIX_FSYNCS"] = tally(of_module & (names == "fsync"))
            counters["TFD_RENAMES"], counters["TFD_UNLINKS"] = (
                tally(of_module & (names == name)) for name in ("rename", "unlink")
            )
            counters["TFD_ZERO_READS"] = tally(reads & (columns["length"] == 0))
            bucket = np.searchsorted(SIZE_LIMITS, columns["length"])
            for place, size in enumerate(SIZE_NAMES):
                counters[f"POSIX_SIZE_READ_{size}"] = tally(reads & (bucket == place))
                counters[f"POSIX_SIZE_WRITE_{size}"] = tally(writes & (bucket == place))
        duration = columns["end_ns"] - columns["start_ns"]
        for name, io_class in (("READ", "read"), ("WRITE", "write"), ("META", "meta")):
            counters[f"{module}_F_{name}_TIME"] = tally(of_module & (classes == io_class), duration) / 1e9
        folded.append(counters)
    return folded
