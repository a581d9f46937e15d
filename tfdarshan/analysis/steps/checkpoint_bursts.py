"""Checkpoint bursts: writes close together in time, and what they cost."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.file_names import FileNames, Named
from tfdarshan.analysis.calls.intervals import Array, union_ns
from tfdarshan.analysis.calls.segments import WRITE, Segments
from tfdarshan.analysis.calls.some_segments import load_writes, write_spans
from tfdarshan.analysis.steps.step_windows import StepWindows, step_windows
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import step_marks
from tfdarshan.thresholds import THRESHOLD

GAP_NS, LEAST_BYTES = round(1e9 * THRESHOLD["save gap"]), int(THRESHOLD["save"])
# Another save of a later step comes after a pause of so long, and of such a part of a step.
LEAST_PAUSE_NS, PAUSE_OF_A_STEP = round(1e9 * THRESHOLD["pause"]), THRESHOLD["hardly"]
# Where no step is known, after one that a step of training fits into.
PAUSE_NS = round(THRESHOLD["hardly"] * GAP_NS)
NUMBER = re.compile(r"\d+")
# What savers add to a checkpoint's name: TensorFlow's shards and index, its folder for temporary files.
SAVER_SUFFIX = re.compile(r"(\.data-\d+-of-\d+|\.index|_temp)?(\.tempstate\d+)?$")
# A shard in TensorFlow's folder for temporary files, which has the checkpoint's name.
SHARD = re.compile(r"part-\d+-of-\d+\.")
COLUMNS = (
    "start_ns", "end_ns", "directory", "name", "files", "writes", "stdio_writes", "syncs", "bytes",
    "write_ns", "thread_ns",
)  # fmt: skip


def checkpoint_bursts(segments: Segments, files: Named, windows: StepWindows | None = None) -> pd.DataFrame:
    """Group writes that are less than `GAP_NS` apart, those of each save of `LEAST_BYTES` or more.

    A later step's writes, after a pause, are another save if they begin a file anew, or go to a file of the
    same name but for its numbers. Where no step is known, those are after a pause of `PAUSE_NS`, of saves
    that are large enough by themselves.

    Args:
        segments: The session's calls, or those of `load_writes`.
        files: What they were loaded with: the file table or some names.
        windows: The session's steps, None if there are none.

    Returns:
        One row per burst, in order of time: `start_ns`, `end_ns`; `directory` and `name` of the file that got
        most (str), without the saver's suffixes; `files`, `writes` (calls that wrote data), of which
        `stdio_writes`; `syncs` (fsync, fdatasync, fflush); `bytes`; `write_ns` (wall clock: at least one such
        call was running: the stall, where the job writes from its training loop); `thread_ns`. int64.
    """
    chosen = np.flatnonzero((segments.io_class == WRITE) & (segments.error == 0))
    writes = segments.where(chosen)
    if len(writes) == 0:
        return no_bursts()
    reached = np.maximum.accumulate(writes.end_ns)
    paths = files.paths
    pause_ns = writes.start_ns[1:] - reached[:-1]
    apart = np.concatenate([[True], pause_ns >= GAP_NS])
    heads = np.flatnonzero(apart | np.concatenate([[False], _next_save(writes, paths, pause_ns, windows)]))
    total = np.add.reduceat(writes.length, heads)
    if windows is None:
        heads = heads[apart[heads] | (total >= LEAST_BYTES)]
        total = np.add.reduceat(writes.length, heads)
    bounds = np.append(heads, len(writes))
    stdio = np.array([operation.module == "STDIO" for operation in writes.operations])
    rows = [
        _row(writes.where(slice(bounds[burst], bounds[burst + 1])), paths, stdio)
        for burst in np.flatnonzero(total >= LEAST_BYTES).tolist()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def load_bursts(processes: Sequence[ProcessData], names: FileNames) -> pd.DataFrame:
    """Return `checkpoint_bursts` of a session of any size; only row groups with much writing are read.

    Args:
        processes: The processes.
        names: Is told of the files.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    # Bytes in the overview are rounded bin by bin.
    spans = write_spans(processes, GAP_NS, LEAST_BYTES // 2)
    if not len(spans):
        return no_bursts()
    return checkpoint_bursts(load_writes(processes, spans, names), names, step_windows(step_marks(processes)))


def _next_save(writes: Segments, paths: Any, pause_ns: Array, windows: StepWindows | None) -> Array:
    """Return for each write but the first whether it begins another save than the write before it, bool."""
    if windows is None:
        later = pause_ns >= PAUSE_NS
    else:
        step = np.searchsorted(windows.start_ns, writes.start_ns, side="right")
        typical_ns = float(np.median(windows.end_ns - windows.start_ns))
        later = (np.diff(step) > 0) & (pause_ns >= max(LEAST_PAUSE_NS, PAUSE_OF_A_STEP * typical_ns))
    touched, place = np.unique(writes.file, return_inverse=True)
    names = [SAVER_SUFFIX.sub("", str(paths[file].as_py())) for file in touched.tolist()]
    name = np.unique(names, return_inverse=True)[1][place]
    kind = np.unique([NUMBER.sub("#", one) for one in names], return_inverse=True)[1][place]
    # The first write to a name whose like, but for its numbers, was written before.
    numbered = _is_first(name) & ~_is_first(kind)
    again = ~_is_first(place) & (writes.offset == 0)
    return later & (numbered | again)[1:]


def _is_first(values: Array) -> Array:
    """Return which are the first of their value, bool."""
    found = np.zeros(len(values), bool)
    found[np.unique(values, return_index=True)[1]] = True
    return found


def no_bursts() -> pd.DataFrame:
    """Return a table of bursts that has no rows."""
    return pd.DataFrame([], columns=list(COLUMNS))


def _row(writes: Segments, paths: Any, stdio: Array) -> tuple[object, ...]:
    moved = writes.length > 0
    touched, place = np.unique(writes.file, return_inverse=True)
    largest = int(touched[np.argmax(np.bincount(place, writes.length))])
    directory, name = posixpath.split(str(paths[largest].as_py()))
    if SHARD.match(name):
        directory, name = posixpath.split(directory)
    return (
        int(writes.start_ns[0]),
        int(writes.end_ns.max()),
        directory,
        SAVER_SUFFIX.sub("", name),
        len(np.unique(writes.file[moved])),
        int(moved.sum()),
        int((moved & stdio[writes.operation]).sum()),
        int((~moved).sum()),
        int(writes.length.sum()),
        union_ns(writes.start_ns, writes.end_ns),
        int((writes.end_ns - writes.start_ns).sum()),
    )
