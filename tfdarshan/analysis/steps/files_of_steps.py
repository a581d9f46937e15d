"""The files of some steps: what the calls that began in these did, added up from the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import META, READ, WRITE, Segments, segment_blocks
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.steps.step_windows import place_in
from tfdarshan.errors import SessionDataError
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import step_marks

OPENS, STATS = ("open", "fopen"), ("stat", "fstat")
# They are of the class of writes, and write nothing.
SYNCS = ("fsync", "fdatasync", "fflush")
TIMES = {"read_s": READ, "write_s": WRITE, "meta_s": META}
NEVER_NS = np.iinfo(np.int64).min
COLUMNS = (
    "path", "module", "time_s", "opens", "reads", "zero_reads", "bytes_read", "writes", "bytes_written",
    "stats", "read_s", "write_s", "meta_s",
)  # fmt: skip


@dataclass(frozen=True)
class FilesOfSteps:
    """What the calls that began in some steps did. What is read ahead belongs to the step it is read in.

    Attributes:
        rows: One row per path and module, those of most time first: `path`, `module` (str); `opens`, `reads`,
            of which `zero_reads` gave nothing, `writes`, `stats` (int64, calls that did not fail);
            `bytes_read`, `bytes_written` (int64, bytes); `read_s`, `write_s`, `meta_s` and their sum `time_s`
            (float64, seconds in calls: those of one kind in one process at the same time count once).
        steps: The numbers of the steps, in order of time.
        missing_calls: Calls of the session that are not in the trace, and so in no step.
    """

    rows: pd.DataFrame
    steps: tuple[int, ...]
    missing_calls: int


def files_of_steps(
    processes: Sequence[ProcessData], *, steps: tuple[int, int] | None = None, epoch: int | None = None
) -> FilesOfSteps:
    """Add up the calls that began in some steps, or between two of them that follow each other.

    Args:
        processes: A session's processes.
        steps: The first and the last number of the steps; None for all.
        epoch: The epoch that they are of, from 1 on; None for all.

    Raises:
        SessionDataError: There are no such steps, single calls were not kept, or a table is damaged.
    """
    missing = sum(meta["events"] - meta["segments"] for meta in (one.meta["counts"] for one in processes))
    if missing and not any(one.meta["counts"]["segments"] for one in processes):
        raise SessionDataError(
            "the session has no trace, so the calls of these steps are not known: record with trace=True."
        )
    marks = step_marks(processes).sort_values("start_ns", kind="stable", ignore_index=True)
    chosen = _chosen(marks, steps, epoch)
    windows_ns = _windows_ns(marks, chosen)
    return FilesOfSteps(_rows(processes, windows_ns), tuple(marks["step"][chosen].tolist()), int(missing))


def _chosen(marks: pd.DataFrame, steps: tuple[int, int] | None, epoch: int | None) -> Array:
    """Return which steps are meant, bool.

    Raises:
        SessionDataError: None is.
    """
    if not len(marks):
        raise SessionDataError(
            "the session has no steps: go over the input with `for batch in tfdarshan.steps(loader):`, and "
            "record again."
        )
    number, of_epoch = marks["step"].to_numpy(), marks["epoch"].to_numpy()
    has = f"it has steps {number.min():,} to {number.max():,}"
    if epoch is not None and (of_epoch < 0).all():
        raise SessionDataError(
            f"the session does not say which epoch its steps belong to: name steps instead; {has}."
        )
    chosen = np.ones(len(marks), bool)
    meant = ""
    if steps is not None:
        chosen &= (number >= steps[0]) & (number <= steps[1])
        meant = f" from {steps[0]:,} to {steps[1]:,}"
    if epoch is not None:
        chosen &= of_epoch == epoch
        meant += f" of epoch {epoch:,}"
        has += f" of epochs {of_epoch[of_epoch >= 0].min():,} to {of_epoch.max():,}"
    if not chosen.any():
        raise SessionDataError(f"the session has no step{meant}: {has}.")
    return chosen


def _windows_ns(marks: pd.DataFrame, chosen: Array) -> list[tuple[int, int]]:
    """Return when steps that follow each other began and ended, of each such run of steps."""
    place = np.flatnonzero(chosen)
    runs = np.split(place, np.flatnonzero(np.diff(place) > 1) + 1)
    start, end = marks["start_ns"].to_numpy(), marks["end_ns"].to_numpy()
    return [(int(start[run[0]]), int(end[run].max())) for run in runs]


def _rows(processes: Sequence[ProcessData], windows_ns: Sequence[tuple[int, int]]) -> pd.DataFrame:
    files, times = load_files(processes), _Times()
    begin_ns, end_ns = (np.array(column, np.int64) for column in zip(*windows_ns, strict=True))
    parts = []
    for block in segment_blocks(processes, files.index, windows_ns=windows_ns):
        within = place_in(begin_ns, end_ns, block.start_ns) >= 0
        made = block.where(np.flatnonzero(within & (block.error == 0) & (block.file > 0)))
        if len(made):
            parts.append(_sums(made, times))
    if not parts:
        return pd.DataFrame({name: [] for name in COLUMNS})
    found = pd.concat(parts).groupby(level=["file", "module"]).sum().reset_index()
    found["path"] = files.rows["path"].to_numpy()[found["file"]]
    found["time_s"] = found[list(TIMES)].sum(axis=1)
    return found.sort_values("time_s", ascending=False, kind="stable", ignore_index=True)[list(COLUMNS)]


def _sums(made: Segments, times: _Times) -> pd.DataFrame:
    """Return what calls add to the figures of each file and module."""
    kinds, io_class = made.operations, made.io_class
    opens, stats, syncs = (
        np.array([kind.name in names for kind in kinds])[made.operation] for names in (OPENS, STATS, SYNCS)
    )
    module = np.array([kind.module for kind in kinds], object)[made.operation]
    posix = module == "POSIX"
    # Of streams, Darshan counts no transfer of nothing.
    moves = posix | (made.length > 0)
    reads, writes = (io_class == READ) & moves, (io_class == WRITE) & ~syncs & moves
    busy_s = times.added_ns(made) / 1e9
    columns: dict[str, Any] = {
        "opens": opens.astype(np.int64),
        "reads": reads.astype(np.int64),
        "zero_reads": (reads & (made.length == 0)).astype(np.int64),
        "bytes_read": np.where(reads, made.length, 0),
        "writes": writes.astype(np.int64),
        "bytes_written": np.where(writes, made.length, 0),
        "stats": stats.astype(np.int64),
        **{name: np.where(io_class == of, busy_s, 0.0) for name, of in TIMES.items()},
    }
    keys = {"file": made.file, "module": module}
    return pd.DataFrame(keys | columns).groupby(["file", "module"]).sum()


class _Times:
    """The time in calls on each file; those of one process, kind and module at the same time count once."""

    def __init__(self) -> None:
        self._until_ns = pd.Series(dtype=np.int64)

    def added_ns(self, made: Segments) -> Array:
        """Return what each call adds, in ns. No call begins before those that were added already."""
        key = self._keys(made)
        before = self._until_ns.reindex(key, fill_value=NEVER_NS).to_numpy()
        reached = pd.Series(np.maximum(made.end_ns, before)).groupby(key).cummax()
        previous = np.maximum(reached.groupby(key).shift(fill_value=NEVER_NS).to_numpy(), before)
        last = reached.groupby(key).last()
        self._until_ns = pd.concat([self._until_ns, last]).groupby(level=0).max()
        return np.maximum(made.end_ns - np.maximum(made.start_ns, previous), 0)

    @staticmethod
    def _keys(made: Segments) -> Array:
        """Return a number for each file, process, kind and module."""
        process = np.array([thread.process for thread in made.threads] or [0], np.int64)[made.thread]
        posix = np.array([kind.module == "POSIX" for kind in made.operations])[made.operation]
        kind = made.io_class.astype(np.int64) + (META + 1) * posix
        return (process << 40) + made.file.astype(np.int64) * 2 * (META + 1) + kind
