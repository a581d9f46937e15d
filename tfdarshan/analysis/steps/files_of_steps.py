"""The files of some steps: what the calls that began in these did, added up from the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        steps: The numbers of the steps, in order of time; of several ranks those that any has, ascending.
        missing_calls: Calls of the session that are not in the trace, and so in no step.
        ranks: How many ranks have such steps; None for a session without ranks.
    """

    rows: pd.DataFrame
    steps: tuple[int, ...]
    missing_calls: int
    ranks: int | None = None


def files_of_steps(
    processes: Sequence[ProcessData], *, steps: tuple[int, int] | None = None, epoch: int | None = None
) -> FilesOfSteps:
    """Add up the calls that began in some steps, or between two of them that follow each other.

    A call of a rank counts by the rank's own steps.

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
    marks = {rank: _marks([one for one in processes if one.rank == rank]) for rank in _ranks(processes)}
    number, of_epoch = (
        np.concatenate([one[name].to_numpy() for one in marks.values()]) for name in ("step", "epoch")
    )
    chosen = _chosen(number, of_epoch, steps, epoch)
    of_ranks = np.split(chosen, np.cumsum([len(one) for one in marks.values()])[:-1])
    windows_ns = {
        rank: _windows_ns(marks[rank], mine) for rank, mine in zip(marks, of_ranks, strict=True) if mine.any()
    }
    rows, numbers = _rows(processes, windows_ns), number[chosen].tolist()
    if processes[0].rank is None:
        return FilesOfSteps(rows, tuple(numbers), int(missing))
    return FilesOfSteps(rows, tuple(sorted(set(numbers))), int(missing), len(windows_ns))


def _ranks(processes: Sequence[ProcessData]) -> list[int | None]:
    """Return the ranks, those of the first processes first; None stands for a session without ranks."""
    return list(dict.fromkeys(process.rank for process in processes))


def _marks(processes: Sequence[ProcessData]) -> pd.DataFrame:
    return step_marks(processes).sort_values("start_ns", kind="stable", ignore_index=True)


def _chosen(number: Array, of_epoch: Array, steps: tuple[int, int] | None, epoch: int | None) -> Array:
    """Return which steps are meant, of numbers and epochs of all, bool.

    Raises:
        SessionDataError: None is.
    """
    if not len(number):
        raise SessionDataError(
            "the session has no steps: go over the input with `for batch in tfdarshan.steps(loader):`, and "
            "record again."
        )
    has = f"it has steps {number.min():,} to {number.max():,}"
    if epoch is not None and (of_epoch < 0).all():
        raise SessionDataError(
            f"the session does not say which epoch its steps belong to: name steps instead; {has}."
        )
    chosen = np.ones(len(number), bool)
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


def _rows(
    processes: Sequence[ProcessData], windows_of_ranks: Mapping[int | None, Sequence[tuple[int, int]]]
) -> pd.DataFrame:
    files = load_files(processes)
    parts = []
    for rank, windows_ns in windows_of_ranks.items():
        own, index = zip(
            *((one, place) for one, place in zip(processes, files.index, strict=True) if one.rank == rank),
            strict=True,
        )
        begin_ns, end_ns = (np.array(column, np.int64) for column in zip(*windows_ns, strict=True))
        times = _Times()
        for block in segment_blocks(own, index, windows_ns=windows_ns):
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
