"""Whether two sessions read the same files, and which of them took longer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable

SIDES = ("first", "second")


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


class FilePair:
    """The files of two sessions, matched by path, or below the folder of each where no path is the same.

    Args:
        first: One session's file table.
        second: The other's.
    """

    def __init__(self, first: FileTable, second: FileTable) -> None:
        one, two, self._moved = _matched(_by_path(first), _by_path(second))
        one, two = (frame.add_suffix(f"_{side}") for side, frame in zip(SIDES, (one, two), strict=True))
        self._rows = one.join(two, how="outer").sort_index()

    def sets(self) -> FileSets:
        """Compares what was read and not written."""
        read = [self._rows[f"only_read_{side}"].eq(True).to_numpy(bool) for side in SIDES]
        size = [self._rows[f"size_bytes_{side}"].to_numpy() for side in SIDES]
        shared = int((read[0] & read[1]).sum())
        resized = int((read[0] & read[1] & (size[0] != size[1])).sum())
        only = [int(side.sum()) - shared for side in read]
        return FileSets(shared - resized, resized, only[0], only[1], self._moved and shared > 0)

    def most_changed(self, top: int) -> list[FileChange]:
        """Lists the files whose time in calls changed most, the largest change first, then by name."""
        first, second = (self._rows[f"time_s_{side}"].fillna(0.0).to_numpy() for side in SIDES)
        order = np.argsort(-np.abs(second - first), kind="stable")[:top]
        return [
            FileChange(str(self._rows.index[place]), float(first[place]), float(second[place]))
            for place in order
            if first[place] != second[place]
        ]


def _by_path(table: FileTable) -> Any:
    """Gives what is compared of each file, by its path."""
    rows = table.rows
    frame = pd.DataFrame({"size_bytes": rows["size_bytes"], "time_s": rows["time_s"]})
    frame["only_read"] = (rows["reads"] > 0) & (rows["bytes_written"] == 0) & (rows["writes"] == 0)
    frame.index = pd.Index(rows["path"].astype(object), name="path")
    return frame[frame.index.str.startswith("/")]  # the others are no files


def _matched(one: Any, two: Any) -> tuple[Any, Any, bool]:
    """Gives both with names that match, and whether those are names below the folder of what was read."""
    if len(one.index.intersection(two.index)):
        return one, two, False
    below = [_below_common_folder(frame[frame["only_read"]]) for frame in (one, two)]
    if len(below[0].index.intersection(below[1].index)):
        return below[0], below[1], True
    return one, two, False


def _below_common_folder(frame: Any) -> Any:
    """Names files by their path below the folder that they all are in."""
    if not len(frame):
        return frame
    names = frame.index
    folder = os.path.commonpath([str(Path(name).parent) for name in (names.min(), names.max())])
    return frame.set_axis(names.str.slice(len(folder.rstrip("/")) + 1))
