"""Which folder of one session is a copy of which folder of another, by the names and sizes of their files."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

# Files that are asked where they are in the other session.
ASKED = 100
# A copy has at least this share of the files, by name and size.
LEAST_SHARE = 0.5


@dataclass(frozen=True)
class MovedFolder:
    """A folder, and the one that a copy of it is in."""

    first: str
    second: str


def find_moved_folder(first: Any, second: Any) -> MovedFolder | None:
    """Return the folder that most files were moved from and to, None where they are no copies of each other.

    Args:
        first: Frame with `size_bytes` by path: what only the first session read.
        second: Likewise of the second.
    """
    found = Counter(_candidates(first, second)).most_common(1)
    if not found:
        return None
    folder = found[0][0]
    sizes = below(first, folder.first)["size_bytes"], below(second, folder.second)["size_bytes"]
    alike = len(set(sizes[0].items()) & set(sizes[1].items()))
    return folder if alike >= LEAST_SHARE * min(len(first), len(second)) else None


def below(frame: Any, folder: str) -> Any:
    """Return the rows below a folder, by their path from there."""
    prefix = f"{folder.rstrip('/')}/"
    inside = [path.startswith(prefix) for path in frame.index]
    rows = frame[inside]
    return rows.set_axis([path[len(prefix) :] for path in rows.index])


def _candidates(first: Any, second: Any) -> Iterator[MovedFolder]:
    """Yield where each of some files, and its like in the other session, differ in folder."""
    # Of paths sorted from their ends, a file's neighbours are those whose ends are most alike.
    reverse = sorted(path[::-1] for path in second.index)
    for path in first.index[:: len(first) // ASKED + 1]:
        place = bisect_left(reverse, path[::-1])
        for other in (neighbour[::-1] for neighbour in reverse[max(place - 1, 0) : place + 1]):
            same_name = PurePosixPath(path).name == PurePosixPath(other).name
            if same_name and first.at[path, "size_bytes"] == second.at[other, "size_bytes"]:
                yield _folders(path, other)


def _folders(one: str, two: str) -> MovedFolder:
    """Take off the end that two paths have in common."""
    parts = [PurePosixPath(path).parts for path in (one, two)]
    shortest = min(map(len, parts))
    same = next(
        (end for end in range(1, shortest) if parts[0][-end - 1] != parts[1][-end - 1]),
        shortest - 1,
    )
    return MovedFolder(*(str(PurePosixPath(*path[: len(path) - same])) for path in parts))
