"""Folders with what they hold, as boxes within boxes: subfolders, large files by name, and how many others.

Bounded whatever the number of files: `directory_tree` tells so many folders apart, and a file has a box of
its own only if it has a two-hundredth of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from tfdarshan.analysis.directory import directory_tree
from tfdarshan.reports.figures.treemap import FILE, FOLDER, NO_BRANCH, OTHERS, Box
from tfdarshan.units import plural

LEAST_SHARE = 1 / 200


@dataclass(frozen=True)
class NamedFile:
    """A file with its part of the whole."""

    path: str
    value: float


def folder_boxes(totals: pd.DataFrame, column: str, largest: Sequence[NamedFile]) -> list[Box]:
    """Gives the boxes; each one's value is that of what is in it, those of no value are left out.

    Args:
        totals: What `directory_totals` gives.
        column: Which of its columns is divided.
        largest: The files that have most of it.
    """
    tree = directory_tree(totals, column)
    tree = tree[(tree["value"] > 0) & (tree["path"] != "")]
    own_files = _own_files(totals, set(tree["path"]))
    named = _named(largest, LEAST_SHARE * float(tree["own"].sum()), set(tree["path"]))
    around, boxes = set(tree["parent"]), []
    for row in _without_empty_tops(tree).itertuples():
        inside = list(_inside(row, named[row.path], own_files[row.path], row.path in around))
        boxes += [Box(row.path, row.parent, row.name, FOLDER, row.value, 0), *inside]
    return _branched(_counted(boxes, own_files))


def _own_files(totals: pd.DataFrame, shown: set[str]) -> Counter[str]:
    """Counts the files of each folder that is shown, and of those below it that are not."""
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


def _without_empty_tops(tree: pd.DataFrame) -> pd.DataFrame:
    """Leaves out outermost folders that hold one folder and nothing else; the next is named by its path."""
    while True:
        tops = tree[~tree["parent"].isin(tree["path"])]
        inside = tree[tree["parent"].isin(tops["path"])]
        if len(tops) != 1 or len(inside) != 1 or tops["own"].iloc[0] > 0:
            named = tree["name"].where(~tree["path"].isin(tops["path"]), tree["path"])
            parent = tree["parent"].where(~tree["path"].isin(tops["path"]), "")
            return tree.assign(name=named, parent=parent)
        tree = tree[tree["path"] != tops["path"].iloc[0]]


def _inside(row, named: Sequence[NamedFile], files: int, has_folders: bool) -> Iterator[Box]:  # type: ignore[no-untyped-def]
    """Gives the files of a folder: none if all that it holds are files too small to be told apart."""
    for file in named:
        relative = file.path[len(row.path) :].lstrip("/")
        yield Box(file.path, row.path, relative, FILE, file.value, 1)
    rest, others = row.own - sum(file.value for file in named), files - len(named)
    if others > 0 and rest > 1e-9 * row.value and (named or has_folders):
        words = plural(others, "other file" if named else "file")
        yield Box(f"{row.path}//", row.path, words, OTHERS, rest, others)


def _counted(boxes: Sequence[Box], own_files: Counter[str]) -> list[Box]:
    """Gives the boxes with how many files each folder holds, those of folders in it included."""
    counts = Counter({box.id: own_files[box.id] for box in boxes if box.kind == FOLDER})
    folders = [box for box in boxes if box.kind == FOLDER]
    for box in sorted(folders, key=lambda box: -len(box.id)):
        counts[box.parent] += counts[box.id]
    return [replace(box, files=counts[box.id]) if box.kind == FOLDER else box for box in boxes]


def _branched(boxes: Sequence[Box]) -> list[Box]:
    tops = {box.id for box in boxes if not box.parent}
    # Of several outermost boxes each is a branch.
    first = [box for box in boxes if (box.parent in tops if len(tops) == 1 else not box.parent)]
    branches = {box.id: place for place, box in enumerate(sorted(first, key=lambda box: -box.value))}
    around = {box.id: box.parent for box in boxes}

    def branch(at: str) -> int:
        while at and at not in branches:
            at = around.get(at, "")
        return branches.get(at, NO_BRANCH)

    return [replace(box, branch=branch(box.id)) for box in boxes]
