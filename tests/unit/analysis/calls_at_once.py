"""What totals that merge have to say, worked out of all calls at once, as it was before there were totals."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfdarshan.analysis.activity import Activity, activity
from tfdarshan.analysis.directory import Directories
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array, group_order
from tfdarshan.analysis.metadata_share import MetadataShare
from tfdarshan.analysis.segments import BLOCK, CLASSES, META, READ, WRITE, Segments
from tfdarshan.analysis.time_bins import TimeBins
from tfdarshan.analysis.wall_clock import WallClock

# Groups are laid end to end on one axis of 63 bits.
AXIS_NS = 1 << 62
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


def io_time_by_directory(segments: Segments, directories: Directories) -> pd.DataFrame:
    """Gives `io_time` by folder, the busiest first; index: its path."""
    table = io_time(segments, directories.of_file[segments.file], len(directories.paths))
    table.index = pd.Index(directories.paths)
    return table[table["calls"] > 0].sort_values("io_ns", ascending=False, kind="stable")


def union_by_group(group: Array, start_ns: Array, end_ns: Array, groups: int) -> Array:
    """Gives the length of each group's union, in ns, int64 of shape (groups,).

    Args:
        group: Each interval's group, from 0; ascending, and ascending in start within a group.
        start_ns: Starts, in ns.
        end_ns: Ends, in ns.
        groups: How many groups there are.
    """
    unions = np.zeros(groups, np.int64)
    if len(group) == 0:
        return unions
    # A group's intervals are shifted past those of the group before, so that one running maximum serves all.
    origin = int(start_ns.min())
    span = int(end_ns.max()) - origin + 1
    at_once = max(1, AXIS_NS // span)
    for first in range(int(group[0]), int(group[-1]) + 1, at_once):
        low, high = np.searchsorted(group, [first, first + at_once])
        if low == high:
            continue
        part = group[low:high]
        shift = part.astype(np.int64)
        shift -= first
        shift *= span
        shift -= origin
        end = end_ns[low:high] + shift
        np.maximum.accumulate(end, out=end)
        shift += start_ns[low:high]
        added = _added(shift, end)
        heads = np.flatnonzero(np.concatenate([[True], part[1:] != part[:-1]]))
        unions[part[heads]] = np.add.reduceat(added, heads)
    return unions


def _added(start: Array, reached: Array) -> Array:
    """Turns starts into what each interval adds; `reached` is the running maximum of the ends."""
    np.maximum(start[1:], reached[:-1], out=start[1:])
    np.subtract(reached, start, out=start)
    return np.maximum(start, 0, out=start)


def metadata_share(segments: Segments, clock: WallClock) -> MetadataShare:
    """Measures it: counts and thread time from the segments, wall-clock time as the summary has it."""
    meta = segments.io_class == META
    duration = segments.end_ns - segments.start_ns
    total = int(duration.sum())
    share = int(duration[meta].sum()) / total if total else None
    return MetadataShare(int(np.count_nonzero(meta)), len(meta), clock.meta_s, clock.io_s, share)


def activity_by_thread(segments: Segments, bins: TimeBins, most: int = 32) -> Activity:
    """Gives the activity of the busiest threads."""
    several = len({(thread.host, thread.pid) for thread in segments.threads}) > 1
    names = [f"{t.pid}/{t.label}" if several else t.label for t in segments.threads]
    return activity(segments.blocks, lambda block: block.thread, names, bins, most)
