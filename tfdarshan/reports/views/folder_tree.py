"""Folders with what they hold, as boxes within boxes: subfolders, large files by name, and how many others.

Bounded whatever the number of files: `directory_tree` tells so many folders apart, and a file has a box of
its own only if it has a two-hundredth of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from tfdarshan.analysis.files.directory import directory_tree
from tfdarshan.reports.figures.treemap import FILE, FOLDER, OTHERS, Box
from tfdarshan.units import plural

LEAST_SHARE = 1 / 200


@dataclass(frozen=True)
class NamedFile:
    """A file with its bytes, and its time in calls."""

    path: str
    value: float
    seconds: float


def folder_boxes(totals: pd.DataFrame, column: str, largest: Sequence[NamedFile]) -> list[Box]:
    """Return the boxes, the outermost first; each one's value is that of what is in it.

    Folders of no value have no box, nor has what is outside of the folder that holds nearly all: a stray file
    would take the place of several levels.

    Args:
        totals: What `directory_totals` gives.
        column: Which of its columns is divided.
        largest: The files that have most of it.
    """
    tree = directory_tree(totals, column)
    tree = _outermost(tree[(tree["value"] > 0) & (tree["path"] != "")])
    own_files = _own_files(totals, set(tree["path"]))
    named = _named(largest, LEAST_SHARE * float(tree["own"].sum()), set(tree["path"]))
    around, boxes = set(tree["parent"]), []
    for row in tree.itertuples():
        inside = list(_inside(row, named[row.path], own_files[row.path], row.path in around))
        boxes += [Box(row.path, row.parent, row.name, FOLDER, row.value, row.value_s, 0), *inside]
    return _counted(boxes, own_files)


def _outermost(tree: pd.DataFrame) -> pd.DataFrame:
    """Cut the tree down to the deepest folder outside of which there is less than a file needs for a box."""
    nearly_all = tree[tree["value"] > (1 - LEAST_SHARE) * tree["value"].max()]
    if len(nearly_all) == 0:
        return tree
    top = max(nearly_all["path"], key=len)
    inside = tree[(tree["path"] == top) | tree["path"].str.startswith(top.rstrip("/") + "/")]
    is_top = inside["path"] == top
    return inside.assign(
        name=inside["name"].where(~is_top, inside["path"]), parent=inside["parent"].where(~is_top, "")
    )


def _own_files(totals: pd.DataFrame, shown: set[str]) -> Counter[str]:
    """Count the files of each folder that is shown, and of those below it that are not."""
    counts: Counter[str] = Counter()
    for path, files in totals["files"].items():
        counts[_nearest(str(path), shown)] += int(files)
    return counts


def _named(largest: Sequence[NamedFile], least: float, shown: set[str]) -> dict[str, list[NamedFile]]:
    found = defaultdict(list)
    for file in largest:
        if file.value > 0 and file.value >= least:
            found[_nearest(file.path.rpartition("/")[0] or "/", shown)].append(file)
    return found


def _nearest(folder: str, shown: set[str]) -> str:
    while folder and folder not in shown:
        folder = folder.rpartition("/")[0] or ("/" if folder != "/" and folder.startswith("/") else "")
    return folder


def _inside(row, named: Sequence[NamedFile], files: int, has_folders: bool) -> Iterator[Box]:  # type: ignore[no-untyped-def]
    """Yield the files of a folder: none if all that it holds are files too small to be told apart."""
    for file in named:
        relative = file.path[len(row.path) :].lstrip("/")
        yield Box(file.path, row.path, relative, FILE, file.value, file.seconds, 1)
    rest, others = row.own - sum(file.value for file in named), files - len(named)
    rest_s = max(row.own_s - sum(file.seconds for file in named), 0.0)
    if others > 0 and rest > 1e-9 * row.value and (named or has_folders):
        words = plural(others, "other file" if named else "file")
        yield Box(f"{row.path}//", row.path, words, OTHERS, rest, rest_s, others)


def _counted(boxes: Sequence[Box], own_files: Counter[str]) -> list[Box]:
    """Return the boxes with how many files each folder holds, those of folders in it included."""
    counts = Counter({box.id: own_files[box.id] for box in boxes if box.kind == FOLDER})
    folders = [box for box in boxes if box.kind == FOLDER]
    for box in sorted(folders, key=lambda box: -len(box.id)):
        counts[box.parent] += counts[box.id]
    return [replace(box, files=counts[box.id]) if box.kind == FOLDER else box for box in boxes]
