"""Whether two sessions read the same files, and which of them took longer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable


@dataclass(frozen=True)
class FileSets:
    """The files that both sessions only read, by path and size.

    Attributes:
        shared: Files of the same name and size in both.
        resized: Files of the same name whose size differs.
        only_first: Files that the first alone read.
        only_second: Files that the second alone read.
        moved: Whether names are alike below another folder: a copy of the data was read.
    """

    shared: int
    resized: int
    only_first: int
    only_second: int
    moved: bool

    @property
    def same(self) -> bool:
        """Whether both read the same files."""
        return self.resized == self.only_first == self.only_second == 0


@dataclass(frozen=True)
class FileChange:
    """One file's time in calls in both sessions, in seconds; 0 where a session did not touch it."""

    path: str
    first_s: float
    second_s: float

    @property
    def difference_s(self) -> float:
        """Second minus first."""
        return self.second_s - self.first_s


def compare_files(first: FileTable, second: FileTable) -> FileSets:
    """Compares what was read and not written."""
    one, two, moved = _matched(_read_files(first), _read_files(second))
    both = one.index.intersection(two.index)
    resized = int((one.loc[both, "size_bytes"].to_numpy() != two.loc[both, "size_bytes"].to_numpy()).sum())
    return FileSets(len(both) - resized, resized, len(one) - len(both), len(two) - len(both), moved)


def most_changed(first: FileTable, second: FileTable, top: int) -> list[FileChange]:
    """Lists the files whose time in calls changed most, the largest change first; 0 changes are left out.

    Files of a copy of the data are matched as in `compare_files`, and named by their path in it.
    """
    one, two, _ = _matched(_by_path(first), _by_path(second))
    times = [frame["time_s"] for frame in (one, two)]
    joined = pd.concat(times, axis=1, keys=("first", "second")).fillna(0.0)
    change = (joined["second"] - joined["first"]).abs().to_numpy()
    order = np.lexsort((joined.index.to_numpy(), -change))[:top]
    return [
        FileChange(str(joined.index[place]), *map(float, joined.iloc[place]))
        for place in order
        if change[place]
    ]


def _by_path(table: FileTable) -> Any:
    rows = table.rows
    named = rows.set_index(pd.Index(rows["path"].astype(object), name="path"))
    return named[named.index.str.startswith("/")]  # the others are no files


def _read_files(table: FileTable) -> Any:
    rows = _by_path(table)
    return rows[(rows["reads"] > 0) & (rows["bytes_written"] == 0) & (rows["writes"] == 0)]


def _matched(one: Any, two: Any) -> tuple[Any, Any, bool]:
    """Gives both with names that match, and whether those are names below the folder of each."""
    if not len(one) or not len(two) or len(one.index.intersection(two.index)):
        return one, two, False
    below = [_below_common_folder(frame) for frame in (one, two)]
    if len(below[0].index.intersection(below[1].index)):
        return below[0], below[1], True
    return one, two, False


def _below_common_folder(frame: Any) -> Any:
    """Names files by their path below the folder that they all are in."""
    names = frame.index
    folder = os.path.commonpath([str(Path(name).parent) for name in (names.min(), names.max())])
    return frame.set_axis(names.str.slice(len(folder.rstrip("/")) + 1))
