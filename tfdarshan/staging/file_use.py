"""What a job did with each of its files, as columns: one row per path, over all processes and sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.counter_groups import (
    BYTES_READ,
    BYTES_WRITTEN,
    META_TIMES,
    NO_OPENS,
    OPENS,
    READ_TIMES,
    READS,
)
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.cache_share import (
    CACHED_CALL_S,
    CACHED_S_PER_BYTE,
    PassSample,
    PassTotals,
    pass_totals,
)

Array = Any

FIRST_USES = ("POSIX_F_OPEN_START_TIMESTAMP", "POSIX_F_READ_START_TIMESTAMP", "STDIO_F_READ_START_TIMESTAMP")
LAST_USES = ("POSIX_F_READ_END_TIMESTAMP", "STDIO_F_READ_END_TIMESTAMP")
# A file that was renamed, or replaced by one that was, or deleted is not the one that was read.
MOVES = ("POSIX_RENAME_TARGETS", "TFD_RENAMES", "TFD_UNLINKS")
ADDED = (
    "opens", "reads", "bytes_read", "bytes_written", "moves", "read_s", "meta_s", "storage_s",
    "storage_bytes",
)  # fmt: skip
# Ten million rows are to fit beside their paths, so nothing is wider than it has to be.
COLUMNS = {
    "size_bytes": np.int64,
    "opens": np.int32,
    "reads": np.int32,
    "bytes_read": np.int64,
    "bytes_written": np.int64,
    "moves": np.int32,
    "read_s": np.float32,
    "meta_s": np.float32,
    "storage_s": np.float32,
    "storage_bytes": np.float32,
    "first_use_s": np.float32,
    "last_use_s": np.float32,
    "mount": np.int16,
}
TABLE_COLUMNS = (
    "file", "path", "size_bytes", "mount_point", "fs_type", "TFD_ZERO_READS",
    *OPENS, *NO_OPENS, *READS, *BYTES_READ, *BYTES_WRITTEN, *READ_TIMES, *META_TIMES, *FIRST_USES, *LAST_USES,
    *MOVES,
)  # fmt: skip


@dataclass(frozen=True)
class Mount:
    """Where files are: mount point and file-system type, both empty if unknown."""

    point: str
    fs_type: str


@dataclass(frozen=True)
class FileUse:
    """Every path that was read or written. Arrays have one entry per path.

    Attributes:
        paths: pyarrow large_string; bytes that are not UTF-8 as backslash escapes.
        size_bytes: File size, -1 if unknown.
        opens: Times the file was opened, at least 1 where it was read.
        reads: Reads, the empty ones as well.
        bytes_read: Bytes read, from storage or memory.
        bytes_written: Bytes written.
        moves: Times the file was renamed, replaced by a renamed one, or deleted.
        read_s: Time in reads.
        meta_s: Time in open, stat, close ...
        storage_s: Of `read_s`, the time of passes that storage served (`cache_share`).
        storage_bytes: Of `bytes_read`, the bytes of such passes.
        first_use_s: Start of the first open or read since the session's start.
        last_use_s: End of the last read.
        mount: Index into `mounts`.
        mounts: Where the files are.
        traced_share: Share of the bytes read that the sessions' segments have, 0 to 1.
        samples: For each process, passes that storage served.
    """

    paths: Any
    size_bytes: Array
    opens: Array
    reads: Array
    bytes_read: Array
    bytes_written: Array
    moves: Array
    read_s: Array
    meta_s: Array
    storage_s: Array
    storage_bytes: Array
    first_use_s: Array
    last_use_s: Array
    mount: Array
    mounts: tuple[Mount, ...]
    traced_share: float = 0.0
    samples: tuple[PassSample, ...] = ()

    def __len__(self) -> int:
        return len(self.size_bytes)


def read_file_use(sessions: Sequence[SessionData]) -> FileUse:
    """Reads what each path was used for; times of later sessions count from their own start.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    mounts: dict[Mount, int] = {}
    traced = [0.0, 0.0]
    samples: list[PassSample] = []
    parts = [
        _process_use(process, mounts, traced, samples)
        for session in sessions
        for process in session.processes
    ]
    paths = pa.chunked_array([chunk for part, _ in parts for chunk in part], pa.large_string())
    columns = {name: np.concatenate([part.pop(name) for _, part in parts]) for name in COLUMNS}
    if len(parts) > 1:
        encoded = paths.dictionary_encode().combine_chunks()
        codes, paths = encoded.indices.to_numpy(), pa.chunked_array([encoded.dictionary])
        columns, _ = _merged(columns, codes)
    share = traced[0] / traced[1] if traced[1] else 0.0
    return FileUse(paths=paths, **columns, mounts=tuple(mounts), traced_share=share, samples=tuple(samples))


def _process_use(
    process: ProcessData, mounts: dict[Mount, int], traced: list[float], samples: list[PassSample]
) -> tuple[list[Any], dict[str, Array]]:
    """Gives a process's paths as chunks and its columns, one row per path."""
    passes = pass_totals(process)
    samples.append(passes.sample)
    chunks: list[Any] = []
    parts: list[dict[str, Array]] = []
    for batch in _batches(process):
        columns = _row_columns(batch, mounts)
        used = (columns["bytes_read"] > 0) | (columns["bytes_written"] > 0) | (columns["opens"] > 0)
        paths = batch.column("path")
        if not used.all():
            columns = {name: values[used] for name, values in columns.items()}
            paths = paths.filter(pa.array(used))
        chunks.append(paths.cast(pa.large_string()))
        parts.append(columns)
    if not parts:
        parts.append({name: np.zeros(0, kind) for name, kind in {"file": np.uint32, **COLUMNS}.items()})
    columns = {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}
    file = columns.pop("file")
    if np.any(np.diff(file.astype(np.int64)) <= 0):
        _, codes = np.unique(file, return_inverse=True)
        columns, first = _merged(columns, codes)
        file = file[first]
        chunks = [pa.chunked_array(chunks, pa.large_string()).take(pa.array(first)).combine_chunks()]
    columns["opens"] = np.maximum(columns["opens"], columns["bytes_read"] > 0)
    _split(columns, file, passes)
    traced[0] += min(float(passes.bytes_read.sum()), float(columns["bytes_read"].sum()))
    traced[1] += float(columns["bytes_read"].sum())
    return chunks, columns


def _batches(process: ProcessData) -> Iterator[Any]:
    present = set(process.columns("files"))
    return process.batches("files", [name for name in TABLE_COLUMNS if name in present])


def _row_columns(batch: Any, mounts: dict[Mount, int]) -> dict[str, Array]:
    """Gives the columns of a batch of rows, as yet one per file and module."""

    def total(names: Sequence[str], kind: type = np.int64) -> Array:
        values = [_numbers(batch.column(name)) for name in names if name in batch.schema.names]
        return np.asarray(sum(values[1:], values[0]) if values else np.zeros(batch.num_rows), kind)

    firsts = [_numbers(batch.column(name)) for name in FIRST_USES]
    first = np.minimum.reduce([np.where(values > 0, values, np.inf) for values in firsts])
    return {
        "file": _numbers(batch.column("file")),
        "size_bytes": _numbers(batch.column("size_bytes")),
        "opens": np.maximum(total(OPENS) - total(NO_OPENS), 0).astype(np.int32),
        "reads": total(READS, np.int32),
        "bytes_read": total(BYTES_READ),
        "bytes_written": total(BYTES_WRITTEN),
        "moves": np.maximum(total(MOVES), 0).astype(np.int32),
        "read_s": total(READ_TIMES, np.float32),
        "meta_s": total(META_TIMES, np.float32),
        "storage_s": np.zeros(batch.num_rows, np.float32),
        "storage_bytes": np.zeros(batch.num_rows, np.float32),
        "first_use_s": first.astype(np.float32),
        "last_use_s": np.maximum.reduce([_numbers(batch.column(name)) for name in LAST_USES]).astype(
            np.float32
        ),
        "mount": _mount_codes(batch, mounts),
    }


def _numbers(column: Any) -> Array:
    if column.null_count:
        column = column.fill_null(0)
    return column.to_numpy(zero_copy_only=False)


def _mount_codes(batch: Any, mounts: dict[Mount, int]) -> Array:
    points, kinds = batch.column("mount_point"), batch.column("fs_type")
    point_names, kind_names = points.dictionary.to_pylist(), kinds.dictionary.to_pylist()
    pairs = points.indices.to_numpy().astype(np.int64) * len(kind_names) + kinds.indices.to_numpy()
    unique, codes = np.unique(pairs, return_inverse=True)
    found = [
        Mount(point_names[pair // len(kind_names)], kind_names[pair % len(kind_names)])
        for pair in unique.tolist()
    ]
    places = np.array([mounts.setdefault(mount, len(mounts)) for mount in found], np.int16)
    return places[codes]


def _merged(columns: dict[str, Array], codes: Array) -> tuple[dict[str, Array], Array]:
    """Merges the rows of equal code; gives the columns in order of code, and the first row of each code."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0]) if len(order) else order
    merged = {}
    for name, values in columns.items():
        values = values[order]
        if name in ADDED:
            merged[name] = np.add.reduceat(values, starts) if len(starts) else values
        elif name == "first_use_s":
            merged[name] = np.minimum.reduceat(values, starts) if len(starts) else values
        elif name == "mount":
            merged[name] = values[starts]
        else:
            merged[name] = np.maximum.reduceat(values, starts) if len(starts) else values
    return merged, order[starts]


def _split(columns: dict[str, Array], file: Array, passes: PassTotals) -> None:
    """Fills in what storage served: by the segments where a file has them, else by its mean read."""
    bytes_read, read_s = columns["bytes_read"], columns["read_s"]
    slow = read_s > columns["reads"] * CACHED_CALL_S + bytes_read * CACHED_S_PER_BYTE
    share_s, share_bytes = slow.astype(np.float32), slow.astype(np.float32)
    place = np.minimum(np.searchsorted(passes.file, file), max(len(passes.file) - 1, 0))
    if len(passes.file):
        known = (passes.file[place] == file) & (passes.bytes_read[place] > 0)
        place = place[known]
        share_s[known] = passes.storage_s[place] / np.maximum(passes.read_s[place], 1e-12)
        share_bytes[known] = passes.storage_bytes[place] / passes.bytes_read[place]
    columns["storage_s"] = read_s * share_s
    columns["storage_bytes"] = bytes_read.astype(np.float32) * share_bytes
