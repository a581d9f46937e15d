"""Page faults on mapped files as calls: one that waited is a read of what came in for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import EVENTS, FAULTS, READ, Segments, load_segments
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.input_files import never_input
from tfdarshan.analysis.files.mapped_reads import rows_of
from tfdarshan.analysis.steps.mapped_waits import JUMP_BYTES, PAGE_BYTES, WAITED_NS
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import ReadTasks
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.schema import FAULT_MODULE

UNKNOWN = -1.0
# Of `ReadTasks`, what a task that stands for several has as many times as much of.
AS_MANY = (
    "calls", "first_opens", "call_s", "turn_s", "quick_s", "size", "stored_s", "requests", "jumps", "places",
    "asked_reads",
)  # fmt: skip


@dataclass(frozen=True)
class FaultCalls:
    """Calls, and page faults that waited.

    Attributes:
        calls: They.
        files: The file table, with what page faults read.
        times: For each row of it how many page faults each that is known stands for, at least 1.
    """

    calls: Segments
    files: FileTable
    times: Array

    def as_many(self, tasks: ReadTasks) -> ReadTasks:
        """Return tasks with the page faults that were not seen, which are taken to be like the rest."""
        times = self.times[tasks.file]
        return dataclasses.replace(tasks, **{name: getattr(tasks, name) * times for name in AS_MANY})


def with_faults(processes: Sequence[ProcessData], files: FileTable) -> FaultCalls | None:
    """Return the calls of a session with the page faults on data files that waited; None if none did.

    Args:
        processes: The session's.
        files: Its files.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    if not any("faults" in process.meta["tables"] for process in processes):
        return None
    found = load_segments(processes, files.index, tables=[EVENTS, FAULTS])
    lasted_ns = found.end_ns - found.start_ns
    data = found.is_fault & ~never_input(files.paths)[found.file]
    waited = data & (lasted_ns > WAITED_NS)
    if not waited.any():
        return None
    came_in, wait_s = _of_files(processes, files)
    kept_s = np.bincount(found.file[data], lasted_ns[data] / 1e9, minlength=len(files))
    times = np.maximum(np.where(kept_s > 0, wait_s, 0.0) / np.maximum(kept_s, TINY_S), 1.0)
    found = _as_reads(found.where(waited | ~found.is_fault), np.where(came_in > 0, came_in / times, came_in))
    return FaultCalls(found, _read_by(found.where(found.is_fault), files), times)


def _as_reads(calls: Segments, came_in: Array) -> Segments:
    """Return calls whose page faults are reads of what came in."""
    faults, length = np.flatnonzero(calls.is_fault), calls.length.copy()
    length[faults] = _lengths(calls.where(faults), came_in)
    operations = tuple(
        dataclasses.replace(one, io_class=READ) if one.module == FAULT_MODULE else one
        for one in calls.operations
    )
    return dataclasses.replace(calls, length=length, operations=operations)


def _of_files(processes: Sequence[ProcessData], files: FileTable) -> tuple[Array, Array]:
    """Return the bytes that came in for each file, `UNKNOWN` if nobody knows, and its seconds in faults."""
    came_in, wait_s = np.full(len(files), UNKNOWN), np.zeros(len(files))
    for process, index in zip(processes, files.index, strict=True):
        for row, one in rows_of(process):
            place = index[int(row["file"])]
            came_in[place] = max(came_in[place], UNKNOWN if one.bytes_in is None else one.bytes_in)
            wait_s[place] += one.wait_s or 0.0
    return came_in, wait_s


def _lengths(faults: Segments, came_in: Array) -> Array:
    """Return what came in for each fault.

    That is what lies before the next fault of the same thread, if that is near; the others of a file share
    what is left of the bytes that came in, or read what the kernel reads at a time.
    """
    order = np.argsort(faults.file.astype(np.int64) << 32 | faults.thread, kind="stable")
    file, thread, offset = (values[order] for values in (faults.file, faults.thread, faults.offset))
    ahead = np.zeros(len(order))
    ahead[:-1] = np.diff(offset) * ((np.diff(file) == 0) & (np.diff(thread) == 0))
    near = (ahead > 0) & (ahead <= JUMP_BYTES)
    left = came_in - np.bincount(file, ahead * near, minlength=len(came_in))
    each = np.maximum(left / np.maximum(np.bincount(file, ~near, minlength=len(came_in)), 1), PAGE_BYTES)
    each = np.where(came_in == UNKNOWN, SETTING["fault"], each)
    found = np.empty(len(order), np.int64)
    found[order] = np.rint(np.where(near, ahead, each[file]))
    return found


def _read_by(faults: Segments, files: FileTable) -> FileTable:
    """Return the files with what page faults read, and how long these took."""
    lasted_s = (faults.end_ns - faults.start_ns) / 1e9
    rows, made = files.rows, np.ones(len(faults))
    added = {"reads": made, "bytes_read": faults.length, "read_s": lasted_s, "time_s": lasted_s}
    columns = {
        name: rows[name] + np.bincount(faults.file, values, minlength=len(rows)).astype(rows[name].dtype)
        for name, values in added.items()
    }
    return FileTable(rows.assign(**columns), files.index)
