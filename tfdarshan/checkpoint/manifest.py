"""What is written beside a checkpoint's files: in the fast tier's queue, and on the slow tier."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.checkpoint.bundle import Kind
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.copying import CopiedFile
from tfdarshan.checkpoint.tier_file import damaged, is_plain, read_tier_json, shaped

if TYPE_CHECKING:
    from tfdarshan.checkpoint.tier_shape import EntryShape

MANIFEST = "manifest.json"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A checkpoint that waits on the fast tier.

    Attributes:
        id: Unlike that of any other checkpoint.
        order: Its place in the queue.
        name: TensorFlow's prefix without its folder, or a file's name.
        kind: See `tfdarshan.checkpoint.bundle.Bundle`.
        files: Names of its files; the last makes it visible.
        size_bytes: Bytes of all of them.
        saved_at: When its saving began, in seconds since the epoch.
        fast_durable_at: When its files were durable on the fast tier, in seconds since the epoch; None
            while they are not.
        fast_id: The fast tier's identity.
        step: The training step, None where it is not known.
        era: The slow tier's when it was saved, None where it is not known. One begins when another fast tier
            takes the slow one over: the clocks of two hosts may not tell which was first.
    """

    id: str
    order: int
    name: str
    kind: Kind
    files: tuple[str, ...]
    size_bytes: int
    saved_at: float
    fast_durable_at: float | None
    fast_id: str
    step: int | None = None
    era: int | None = None


@dataclass(frozen=True, kw_only=True)
class Published:
    """A checkpoint on the slow tier.

    Attributes:
        entry: What it was on the fast tier.
        target: Its name on the slow tier: the entry's, unless another checkpoint has that name.
        copied: Its files with size and digest, in the order in which they became visible.
    """

    entry: Entry
    target: str
    copied: tuple[CopiedFile, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"version": VERSION, **dataclasses.asdict(self)}


def entry_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data."""
    return {"version": VERSION, "entry": dataclasses.asdict(entry)}


def read_entry(path: Path) -> Entry | None:
    """Read an entry's manifest; None where there is none or only a part of it, as after a crash.

    Raises:
        BurstBufferError: It is of a newer version, or damaged otherwise.
        OSError: It cannot be read.
    """
    data = _read(path)
    if data is None:
        return None
    from tfdarshan.checkpoint.tier_shape import QueuedShape

    return _entry(path, shaped(path, data, QueuedShape).entry)


def read_published(path: Path) -> Published | None:
    """Read the manifest of a checkpoint on the slow tier; None where there is none or only a part of it.

    Raises:
        BurstBufferError: It is of a newer version, or damaged otherwise.
        OSError: It cannot be read.
    """
    data = _read(path)
    if data is None or "target" not in data:
        return None
    from tfdarshan.checkpoint.tier_shape import PublishedShape, fields_of

    shape = shaped(path, data, PublishedShape)
    _check_names(path, [shape.target, *(file.name for file in shape.copied)])
    copied = tuple(CopiedFile(**fields_of(file)) for file in shape.copied)
    return Published(entry=_entry(path, shape.entry), target=shape.target, copied=copied)


def _entry(path: Path, shape: EntryShape) -> Entry:
    from tfdarshan.checkpoint.tier_shape import fields_of

    _check_names(path, [shape.id, shape.name, *shape.files])
    return Entry(**fields_of(shape))


def _check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse what would lead out of a tier's folders."""
    for name in names:
        if not is_plain(name):
            raise damaged(path, f"{name!r} is not a file name")


def _read(path: Path) -> dict[str, Any] | None:
    data = read_tier_json(path)
    if data is None:
        return None
    from tfdarshan.checkpoint.tier_shape import VersionShape

    version = shaped(path, data, VersionShape).version
    if version > VERSION:
        raise BurstBufferError(
            f"{path} has version {version}, and this tfdarshan reads up to {VERSION}: run `pip install -U "
            "tfdarshan`."
        )
    found: dict[str, Any] = data
    return found
