"""Files rolled up by directory: what was done below each folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import NO_FILE, SUMS, FileTable

# Folders of a treemap.
MOST_FOLDERS = 200
SUMMED = (*(name for name in SUMS if name != "moves"), "time_s")
# A component and the ".." behind it, or those at the root, which lead nowhere.
CLIMBING = r"^(/\.\.)+/|/[^/]+/\.\./"


@dataclass(frozen=True)
class Directories:
    """The folders that hold the files of a table; `of_file` is each file's index into `paths`, int32."""

    paths: list[str]
    of_file: Array


def folders_of(paths: Any) -> Directories:
    """Return the folder of each path, a pyarrow array; "" for what is no path, such as "(no file)"."""
    encoded = pc.dictionary_encode(parents_of(paths))
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return Directories(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


def plain_paths(paths: Any) -> Any:
    """Return paths, a pyarrow array, without "..": where they lead to, unless by a link to a folder.

    A session has paths as the job spells them, from its current folder on.
    """
    if not pc.any(pc.match_substring(paths, "/../")).as_py():
        return paths
    while pc.any(pc.match_substring_regex(paths, CLIMBING)).as_py():
        paths = pc.replace_substring_regex(paths, CLIMBING, "/")
    return paths


def parents_of(paths: Any) -> Any:
    """Return the folder of each path, a pyarrow array; "" for what is no path."""
    parents = pc.replace_substring_regex(paths, r"/?[^/]*$", "")
    return pc.if_else(pc.starts_with(paths, "/"), pc.if_else(pc.equal(parents, ""), "/", parents), "")


def directory_totals(files: FileTable, directories: Directories) -> pd.DataFrame:
    """Add up the file table by folder.

    Returns:
        One row per folder that holds files itself, the longest time first; index: its path. `files` and the
        sums of the file table's columns; `size_bytes` adds up the known sizes.
    """
    count = len(directories.paths)
    used = np.ones(len(files))
    used[NO_FILE] = files.rows[["opens", "reads", "writes", "stats"]].iloc[NO_FILE].any()
    table = {"files": np.bincount(directories.of_file, used, minlength=count).astype(np.int64)}
    sizes = files.rows["size_bytes"].to_numpy()
    for name, values in (
        ("size_bytes", np.maximum(sizes, 0)),
        *((n, files.rows[n].to_numpy()) for n in SUMMED),
    ):
        summed = np.bincount(directories.of_file, values, minlength=count)
        table[name] = summed if values.dtype.kind == "f" else summed.astype(np.int64)
    frame = pd.DataFrame(table, index=pd.Index(directories.paths))
    return frame[frame["files"] > 0].sort_values("time_s", ascending=False, kind="stable")


def directory_tree(totals: pd.DataFrame, column: str, most: int = MOST_FOLDERS) -> pd.DataFrame:
    """Return the folders of `directory_totals` with those above them, for a treemap.

    Args:
        totals: Totals by folder.
        column: What the boxes show.
        most: How many folders are told apart; the others are added to the nearest folder above that is shown.

    Returns:
        `path`, `parent` ("" for the top), `name`, `own` (the value of files in the folder itself) and `value`
        (with everything below), which is its own plus that of the folders whose parent it is. A folder with
        nothing of its own and one folder in it is a part of that one's name. `own_s` and `value_s` are the
        time in calls of the same files.
    """
    values = totals[[column, "time_s"]].sort_values(column, ascending=False).astype(float)
    shown: dict[str, Array] = {}
    for place, (path, *both) in enumerate(values.itertuples()):
        folder = str(path)
        if place >= most:
            folder = next((above for above in _above(folder) if above in shown), "/")
        for above in (folder, *_above(folder)):
            shown.setdefault(above, np.zeros(2))
        shown[folder] += both
    below = {path: own.copy() for path, own in shown.items()}
    for path in sorted(shown, key=len, reverse=True):
        parent = next(iter(_above(path)), None)
        if parent is not None:
            below[parent] += below[path]
    children = Counter(next(iter(_above(path)), "") for path in shown)
    kept = {path for path, own in shown.items() if path == "/" or own[0] or children[path] != 1}
    rows = []
    for path in (path for path in shown if path in kept):
        parent = next((above for above in _above(path) if above in kept), "")
        name = path[len(parent) :].strip("/") or path or "(no file)"
        rows.append((path, parent, name, *shown[path], *below[path]))
    return pd.DataFrame(rows, columns=["path", "parent", "name", "own", "own_s", "value", "value_s"])


def _above(path: str) -> list[str]:
    """List the folders above one, the nearest first."""
    if path in ("", "/"):
        return []
    parts = path.split("/")
    return ["/".join(parts[:count]) or "/" for count in range(len(parts) - 1, 0, -1)]
