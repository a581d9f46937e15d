"""Whether two sessions read the same files, and which of them took longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.comparison.moved_folder import below, find_moved_folder

SIDES = ("first", "second")


@dataclass(frozen=True)
class FileSets:
    """The files that both sessions only read, by path and size.

    Attributes:
        shared: Files of the same name and size in both, or of a size that one does not say, such as a log.
        resized: Files of the same name whose size differs.
        only_first: Files that the first alone read.
        only_second: Files that the second alone read.
        moved: Of `shared` and `resized`, files of the same name below another folder: a copy was read.
    """

    shared: int
    resized: int
    only_first: int
    only_second: int
    moved: int

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
    """The files of two sessions, matched by path, and then by name below a folder that was copied.

    Args:
        first: One session's file table.
        second: The other's.
    """

    def __init__(self, first: FileTable, second: FileTable) -> None:
        one, two = _matched(_by_path(first), _by_path(second))
        one, two = (frame.add_suffix(f"_{side}") for side, frame in zip(SIDES, (one, two), strict=True))
        self._rows = one.join(two, how="outer").sort_index()

    def sets(self) -> FileSets:
        """Compare what was read and not written."""
        read = [self._rows[f"only_read_{side}"].eq(True).to_numpy(bool) for side in SIDES]
        size = [self._rows[f"size_bytes_{side}"].to_numpy() for side in SIDES]
        shared = int((read[0] & read[1]).sum())
        known = (size[0] >= 0) & (size[1] >= 0)
        resized = int((read[0] & read[1] & known & (size[0] != size[1])).sum())
        only = [int(side.sum()) - shared for side in read]
        moved = int((read[0] & read[1] & ~self._rows.index.str.startswith("/")).sum())
        return FileSets(shared - resized, resized, only[0], only[1], moved)

    def most_changed(self, top: int) -> list[FileChange]:
        """List the files whose time in calls changed most, the largest change first, then by name."""
        first, second = (self._rows[f"time_s_{side}"].fillna(0.0).to_numpy() for side in SIDES)
        order = np.argsort(-np.abs(second - first), kind="stable")[:top]
        return [
            FileChange(str(self._rows.index[place]), float(first[place]), float(second[place]))
            for place in order
            if first[place] != second[place]
        ]


def _by_path(table: FileTable) -> Any:
    rows = table.rows
    frame = pd.DataFrame({"size_bytes": rows["size_bytes"], "time_s": rows["time_s"]})
    frame["only_read"] = (rows["reads"] > 0) & (rows["bytes_written"] == 0) & (rows["writes"] == 0)
    frame.index = pd.Index(rows["path"].astype(object), name="path")
    return frame[frame.index.str.startswith("/")]  # the others are no files


def _matched(one: Any, two: Any) -> tuple[Any, Any]:
    """Return both with names that match: paths, and below a folder that was copied the names from there.

    What both read at its place, such as the script, says nothing of the rest. A run with copies may ask
    for the originals with `stat()`, and does not read them.
    """
    read = [frame[frame["only_read"]] for frame in (one, two)]
    rest = [frame[~frame.index.isin(other.index)] for frame, other in (read, reversed(read))]
    folder = find_moved_folder(rest[0], rest[1])
    if folder is None:
        return one, two
    both = set(below(rest[0], folder.first).index) & set(below(rest[1], folder.second).index)
    return _renamed(one, folder.first, both), _renamed(two, folder.second, both)


def _renamed(frame: Any, folder: str, names: set[str]) -> Any:
    """Name files of a folder by their path from there."""
    prefix = f"{folder.rstrip('/')}/"
    cut = len(prefix)
    paths = [path[cut:] if path.startswith(prefix) and path[cut:] in names else path for path in frame.index]
    return frame.set_axis(pd.Index(paths, dtype=object, name="path"))
