"""Which files a checkpoint consists of, in the order in which they may become visible."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tfdarshan.checkpoint.burst_errors import IncompleteCheckpointError

Kind = Literal["tensorflow", "file"]
SHARD = re.compile(r"\.data-(\d{5})-of-(\d{5})$")
INDEX = ".index"
DIGITS = re.compile(r"\d+")
NUMBERED = re.compile(r"^(?P<stem>.*)-(?P<number>\d+)$")


@dataclass(frozen=True)
class Bundle:
    """A checkpoint's files.

    Attributes:
        name: TensorFlow's prefix without its folder, such as "ckpt-3", or a file's name.
        kind: "tensorflow" for shards with an index, "file" for one file such as Keras writes.
        folder: Where the files are.
        files: Their names; the last makes the checkpoint visible.
    """

    name: str
    kind: Kind
    folder: Path
    files: tuple[str, ...]


def find_bundle(prefix: Path) -> Bundle:
    """Find the files of a TensorFlow checkpoint.

    Raises:
        IncompleteCheckpointError: The index or a shard is missing.
    """
    present = set(checkpoint_files(prefix.parent, prefix.name))
    index = prefix.name + INDEX
    if index not in present:
        raise IncompleteCheckpointError(f"checkpoint {prefix} has no file {index}.")
    shards = _newest_shards(prefix.parent, present - {index})
    if not shards:
        raise IncompleteCheckpointError(
            f"checkpoint {prefix} lacks data files: wait until it is saved, or name another one."
        )
    return Bundle(prefix.name, "tensorflow", prefix.parent, (*shards, index))


def growing_shard(prefix: Path) -> Path | None:
    """Find the largest data file that TensorFlow is writing of a checkpoint; None while there is none.

    It writes in `<prefix>_temp`, from a file's beginning to its end, under a name of its own, and renames.
    """
    largest, size_bytes = None, -1
    for path in prefix.with_name(prefix.name + "_temp").glob("*.data-*.tempstate*"):
        with suppress(FileNotFoundError):
            size_bytes, largest = max((path.stat().st_size, path), (size_bytes, largest or path))
    return largest


def single_file(path: Path) -> Bundle:
    """Return the bundle of a checkpoint that is one file."""
    return Bundle(path.name, "file", path.parent, (path.name,))


def checkpoint_files(folder: Path, name: str) -> list[str]:
    """List the files that belong to a TensorFlow checkpoint's name, the index first; none if no folder."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    mine = [entry for entry in names if entry.startswith(name) and _belongs(entry[len(name) :])]
    return sorted(mine, key=lambda entry: (not entry.endswith(INDEX), entry))


def renamed_file(file: str, name: str, new_name: str) -> str:
    """Return the file's name in a checkpoint of another name."""
    return new_name + file[len(name) :]


def number_of(name: str) -> int | None:
    """Return the number at a checkpoint name's end: 3 of "ckpt-3"."""
    match = NUMBERED.match(name)
    return int(match["number"]) if match else None


def series_of(name: str) -> str:
    """Return what the checkpoints of one series have in common: their name but for its numbers."""
    return DIGITS.sub("#", name)


def other_name(name: str, attempt: int) -> str:
    """Return another name that keeps the number at its end: "ckpt-3" becomes "ckpt.2-3"."""
    match = NUMBERED.match(name)
    return f"{match['stem']}.{attempt}-{match['number']}" if match else f"{name}.{attempt}"


def _belongs(suffix: str) -> bool:
    return suffix == INDEX or SHARD.fullmatch(suffix) is not None


def _newest_shards(folder: Path, names: set[str]) -> list[str]:
    """Return the complete set of shards; the newest, where an overwritten checkpoint left another."""
    sets: dict[str, list[str]] = {}
    for name in sorted(names):
        match = SHARD.search(name)
        if match:
            sets.setdefault(match[2], []).append(name)
    complete = [shards for count, shards in sets.items() if len(shards) == int(count)]
    return max(
        complete, key=lambda shards: max((folder / name).stat().st_mtime_ns for name in shards), default=[]
    )
