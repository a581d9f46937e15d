"""Time in I/O by file, mount point, thread, process or kind of call: unions of intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array, group_order, union_by_group
from tfdarshan.analysis.segments import BLOCK, CLASSES, READ, WRITE, Segments

TIMES = ("io_ns", *(f"{name}_ns" for name in CLASSES))
COLUMNS = ("calls", "bytes_read", "bytes_written", *TIMES, "thread_ns")


def io_time(segments: Segments, group: Array, groups: int) -> pd.DataFrame:
    """Gives what each group of calls did, in the order of the groups.

    Args:
        segments: The calls.
        group: Each call's group, from 0.
        groups: How many groups there are.

    Returns:
        One row per group: `calls`, `bytes_read`, `bytes_written`; `io_ns`, `read_ns`, `write_ns`, `meta_ns`,
        the wall-clock time with at least one call (of that class) running; `thread_ns`, all calls' durations
        added up. All int64.
    """
    calls, moved, lasted = _cells(segments, group, groups)
    values = [
        calls.sum(axis=1),
        moved[:, READ],
        moved[:, WRITE],
        *_unions(segments, group, groups, calls, lasted),
        lasted.sum(axis=1),
    ]
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def _cells(segments: Segments, group: Array, groups: int) -> tuple[Array, Array, Array]:
    """Gives calls, bytes and ns of calls by group and class, int64 of shape (groups, classes) each."""
    cells = groups * len(CLASSES)
    sums = np.zeros((3, cells))
    # Blocks fit into the cache; with very many groups the sums would not.
    parts = segments.numbered_blocks() if cells <= BLOCK else [(0, segments)]
    for first, part in parts:
        cell = group[first : first + len(part)].astype(np.int64)
        cell *= len(CLASSES)
        cell += part.io_class
        sums[0] += np.bincount(cell, minlength=cells)
        sums[1] += np.bincount(cell, part.length, minlength=cells)
        sums[2] += np.bincount(cell, part.end_ns - part.start_ns, minlength=cells)
    calls, moved, lasted = sums.astype(np.int64).reshape(3, groups, len(CLASSES))
    return calls, moved, lasted


def _unions(segments: Segments, group: Array, groups: int, calls: Array, lasted: Array) -> list[Array]:
    """Gives the unions of all calls and of each class, by group."""
    order = group_order(group, groups) if (group[1:] < group[:-1]).any() else slice(None)
    key, start, end = (column[order] for column in (group, segments.start_ns, segments.end_ns))
    if ((start[1:] >= end[:-1]) | (key[1:] != key[:-1])).all():
        # One call at a time, as in a thread: nothing overlaps.
        return [lasted.sum(axis=1), *lasted.T]
    union = union_by_group(key, start, end, groups)
    if (np.count_nonzero(calls, axis=1) <= 1).all():
        return [union, *np.where(calls > 0, union[:, np.newaxis], 0).T]
    io_class = segments.io_class[order]
    del order
    unions = [union]
    for code in range(len(CLASSES)):
        chosen = np.flatnonzero(io_class == code)
        unions.append(union_by_group(key[chosen], start[chosen], end[chosen], groups))
    return unions


def io_time_by_file(segments: Segments, files: FileTable) -> pd.DataFrame:
    """Gives `io_time` with one row per file of the table, in its order."""
    return io_time(segments, segments.file, len(files))


def io_time_by_mount(segments: Segments, files: FileTable) -> pd.DataFrame:
    """Gives `io_time` by mount point, the busiest first; index: the mount point, "" if unknown."""
    mounts = files.rows["mount_point"].cat
    return _named(segments, mounts.codes.to_numpy()[segments.file], list(mounts.categories))


def io_time_by_thread(segments: Segments) -> pd.DataFrame:
    """Gives `io_time` by thread, the busiest first; index: (host, pid, tid, name)."""
    threads = [(thread.host, thread.pid, thread.tid, thread.name) for thread in segments.threads]
    table = io_time(segments, segments.thread, len(threads))
    columns = list(zip(*threads, strict=True)) or [()] * 4
    table.index = pd.MultiIndex.from_arrays(columns, names=("host", "pid", "tid", "name"))
    return table.sort_values("io_ns", ascending=False, kind="stable")


def io_time_by_process(segments: Segments) -> pd.DataFrame:
    """Gives `io_time` by process, the busiest first; index: "host:pid"."""
    names = [f"{thread.host}:{thread.pid}" for thread in segments.threads]
    unique = list(dict.fromkeys(names))
    group = np.array([unique.index(name) for name in names] or [0], np.int32)
    return _named(segments, group[segments.thread], unique)


def io_time_by_operation(segments: Segments) -> pd.DataFrame:
    """Gives `io_time` by kind of call, the busiest first; index: its name."""
    return _named(segments, segments.operation.astype(np.int32), [o.name for o in segments.operations])


def _named(segments: Segments, group: Array, names: list[str]) -> pd.DataFrame:
    table = io_time(segments, group, len(names))
    table.index = pd.Index(names)
    return table[table["calls"] > 0].sort_values("io_ns", ascending=False, kind="stable")
