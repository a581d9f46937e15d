"""A job's rows of files as columns, of a log's records or a session's tables; and what they say of it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.files.counter_groups import (
    BYTES_READ,
    BYTES_WRITTEN,
    META_TIMES,
    NO_OPENS,
    OPENS,
    READ_TIMES,
    WRITE_TIMES,
)
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.pydarshan import Records
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.process_data import ProcessData

# Each column, and the counters that it adds up.
SUMS: dict[str, tuple[str, ...]] = {
    "opens": OPENS,
    "reads": ("POSIX_READS", "STDIO_READS"),
    "writes": ("POSIX_WRITES", "STDIO_WRITES"),
    "stats": ("POSIX_STATS", "TFD_STATS_OTHER"),
    "syncs": ("POSIX_FSYNCS", "POSIX_FDSYNCS", "STDIO_FLUSHES"),
    "bytes_read": BYTES_READ,
    "bytes_written": BYTES_WRITTEN,
    "small_reads": ("POSIX_SIZE_READ_0_100", "POSIX_SIZE_READ_100_1K", "POSIX_SIZE_READ_1K_10K"),
    "posix_reads": ("POSIX_READS",),
    "read_s": READ_TIMES,
    "write_s": WRITE_TIMES,
    "meta_s": META_TIMES,
}
LESS: dict[str, tuple[str, ...]] = {
    "opens": NO_OPENS,
    "small_reads": ("TFD_ZERO_READS",),
    "posix_reads": ("TFD_ZERO_READS",),
}
SECONDS = ("read_s", "write_s", "meta_s")
LAST_BYTES = ("POSIX_MAX_BYTE_READ", "STDIO_MAX_BYTE_READ")
COPIES = "TFD_COPY_READ_BYTES"
NOT_COUNTED = -1
# The folder that a job reads its input from has this share of the bytes.
MOST_OF_INPUT = 0.8
COUNTERS = frozenset(name for sums in (*SUMS.values(), *LESS.values()) for name in sums)


@dataclass(frozen=True)
class JobFiles:
    """Rows of files: one for each module, process and file.

    Attributes:
        paths: The paths of files.
        file: Each row's place in `paths`.
        mounts: Mount points with their types.
        mount: Each file's place in `mounts`.
        columns: The columns that SUMS names, by row.
        extent: The offset behind the last byte read, by row; 0 if nothing was.
        stats_known: Whether every row counts stats.
    """

    paths: Sequence[str]
    file: Array
    mounts: Sequence[tuple[str, str]]
    mount: Array
    columns: Mapping[str, Array]
    extent: Array
    stats_known: bool

    def total(self, name: str) -> Any:
        """Add a column up."""
        return self.columns[name].sum().item()

    def by_file(self, name: str) -> Array:
        """Add a column up for each file."""
        return np.bincount(self.file, self.columns[name], minlength=len(self.paths))

    @property
    def unique_bytes(self) -> Array:
        """What was read of each file, each byte once, at most: no more than up to its last byte read."""
        extents = np.zeros(len(self.paths))
        np.maximum.at(extents, self.file, self.extent)
        unique: Array = np.minimum(self.by_file("bytes_read"), extents)
        return unique


def files_of_log(
    records_of: Mapping[str, Records], mounts_known: Sequence[tuple[str, str]], names: Mapping[int, str]
) -> JobFiles:
    """Return the rows of a log's records, by module; of one record at least."""
    parts = []
    for module, part in records_of.items():
        counters = {**part.counters, **part.f_counters}
        known = {name: counters[name] for name in COUNTERS if name in counters}
        # Bytes and offsets of -1 are what a log has; of calls and times that means: not counted.
        columns = {name: _sum(known, name, len(part.record)) for name in SUMS}
        last = [counters[name] + 1 for name in LAST_BYTES if name in counters]
        extent = np.where(columns["bytes_read"] > 0, last[0] if last else 0, 0)
        stats_known = module != "POSIX" or not (part.counters["POSIX_STATS"] == NOT_COUNTED).any()
        parts.append((part.record, columns, extent, stats_known))
    records = np.concatenate([record for record, *_ in parts])
    unique, file = np.unique(records, return_inverse=True)
    paths = [names.get(number) or darshan_format.nameless(number) for number in unique.tolist()]
    mounts, mount = _mounts_of(paths, sorted(set(mounts_known), key=lambda entry: -len(entry[0])))
    return JobFiles(
        paths, file.reshape(-1), mounts, mount,
        {name: np.concatenate([columns[name] for _, columns, *_ in parts]) for name in SUMS},
        np.concatenate([extent for *_, extent, _ in parts]),
        all(known for *_, known in parts),
    )  # fmt: skip


def files_of_session(processes: Sequence[ProcessData]) -> JobFiles:
    """Return the rows of a session's files tables.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    texts = ("path", "mount_point", "fs_type")
    wanted = {*texts, "size_bytes", COPIES, *LAST_BYTES, *COUNTERS}
    place_of: dict[str, int] = {}
    mount_of: dict[tuple[str, str], int] = {}
    mount: list[int] = []
    files, sums, extents, stats_known = [], [], [], True
    for process in processes:
        for batch in process.batches("files", set(wanted).__contains__):
            paths, points, types = (batch.column(name).to_pylist() for name in texts)
            for path, *where in zip(paths, points, types, strict=True):
                if path not in place_of:
                    place_of[path] = len(place_of)
                    mount.append(mount_of.setdefault((where[0] or "", where[1] or ""), len(mount_of)))
            files.append(np.array([place_of[path] for path in paths], np.int64))
            known = {name: _filled(batch, name) for name in batch.schema.names if name not in texts}
            stats_known &= batch.column("POSIX_STATS").null_count == 0
            columns = {name: _sum(known, name, batch.num_rows) for name in SUMS}
            sums.append(columns)
            extents.append(_extent(known, columns["bytes_read"]))
    empty = np.zeros(0)
    return JobFiles(
        list(place_of), np.concatenate(files or [np.zeros(0, np.int64)]), list(mount_of),
        np.array(mount, np.int64),
        {name: np.concatenate([columns[name] for columns in sums] or [empty]) for name in SUMS},
        np.concatenate(extents or [empty]), stats_known,
    )  # fmt: skip


def mount_entries(files: JobFiles) -> list[dict[str, Any]]:
    """Return what was done on each mount, that with most bytes first: entries of MOUNT_FIELDS."""
    count = len(files.mounts)
    of_row = files.mount[files.file]
    sums = {
        name: np.bincount(of_row, files.columns[name], minlength=count)
        for name in ("opens", "stats", "bytes_read", "bytes_written", *SECONDS)
    }
    used = np.bincount(files.mount, minlength=count)
    entries = []
    for place in np.argsort(-(sums["bytes_read"] + sums["bytes_written"]), kind="stable").tolist():
        point, fs_type = files.mounts[place]
        figures = {name: float(v[place]) if name in SECONDS else int(v[place]) for name, v in sums.items()}
        if not files.stats_known:
            figures["stats"] = None  # type: ignore[assignment]
        entries.append(
            {"mount_point": point or None, "fs_type": fs_type or None, "files": int(used[place])} | figures
        )
    return entries


def input_folder(files: JobFiles) -> dict[str, Any]:
    """Return the deepest folder with most of the bytes read, and what was read below it; {} of nothing."""
    read = files.by_file("bytes_read")
    total = float(read.sum())
    if total <= 0:
        return {}
    by_folder: dict[str, float] = {}
    folder_of = [posixpath.dirname(path) for path in files.paths]
    for folder, moved in zip(folder_of, read.tolist(), strict=True):
        if moved > 0:
            by_folder[folder] = by_folder.get(folder, 0.0) + moved
    below: dict[str, float] = {}
    for folder, moved in by_folder.items():
        while folder:
            below[folder] = below.get(folder, 0.0) + moved
            parent = posixpath.dirname(folder)
            folder = "" if parent == folder else parent
    most = [folder for folder, moved in below.items() if moved >= MOST_OF_INPUT * total]
    if not most:
        return {}
    deepest = max(most, key=len)
    inside = np.array([_is_below(folder, deepest) for folder in folder_of], bool)
    return {
        "input_folder": deepest,
        "input_bytes_read": int(read[inside].sum()),
        "input_unique_bytes": int(files.unique_bytes[inside].sum()),
        "input_read_s": float(files.by_file("read_s")[inside].sum()),
    }


def _is_below(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(f"{top.rstrip('/')}/")


def _sum(known: Mapping[str, Array], name: str, rows: int) -> Array:
    """Add counters up, row by row; what was not counted, or is time below 0, is no part of it."""
    total = np.zeros(rows, np.float64 if name in SECONDS else np.int64)
    for counter in SUMS[name]:
        if counter in known:
            total += np.maximum(known[counter], 0)
    for counter in LESS.get(name, ()):
        if counter in known:
            total -= np.maximum(known[counter], 0)
    return total


def _extent(known: Mapping[str, Array], moved: Array) -> Array:
    """Return the offset behind the last byte read; what the kernel copied may be of the whole file."""
    last = np.maximum.reduce([known[name] for name in LAST_BYTES]) + 1
    copied = known.get(COPIES, np.zeros(len(moved))) > 0
    extent: Array = np.where(moved > 0, np.where(copied, np.maximum(last, known["size_bytes"]), last), 0)
    return extent


def _filled(batch: Any, name: str) -> Array:
    values: Array = batch.column(name).fill_null(NOT_COUNTED).to_numpy(zero_copy_only=False)
    return values


def _mounts_of(
    paths: Sequence[str], mounts: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], Array]:
    """Return the mounts of paths, and each path's place among them; `mounts` has the longest point first."""
    known: dict[str, tuple[str, str]] = {}
    points = [(point, point.rstrip("/") + "/", fs_type) for point, fs_type in mounts]
    places: dict[tuple[str, str], int] = {}
    mount = []
    for path in paths:
        folder = path[: path.rfind("/") + 1]
        found = known.get(folder)
        if found is None:
            found = next(
                ((point, kind) for point, below, kind in points if folder.startswith(below)), ("", "")
            )
            known[folder] = found
        mount.append(places.setdefault(found, len(places)))
    return list(places), np.array(mount, np.int64)
