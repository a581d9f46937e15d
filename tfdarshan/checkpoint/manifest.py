"""What is written beside a checkpoint's files: in the fast tier's queue, and on the slow tier."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.checkpoint.bundle import Kind
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.copying import CopiedFile

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
        """Gives it as plain data."""
        return {"version": VERSION, **dataclasses.asdict(self)}


def entry_json(entry: Entry) -> dict[str, Any]:
    """Gives an entry as plain data."""
    return {"version": VERSION, "entry": dataclasses.asdict(entry)}


def read_entry(path: Path) -> Entry | None:
    """Reads an entry's manifest; None where there is none or only a part of it, as after a crash.

    Raises:
        BurstBufferError: It is of a newer version.
    """
    data = _read(path)
    return None if data is None else _entry(data)


def read_published(path: Path) -> Published | None:
    """Reads the manifest of a checkpoint on the slow tier; None where there is none or only a part of it.

    Raises:
        BurstBufferError: It is of a newer version.
    """
    data = _read(path)
    if data is None or "target" not in data:
        return None
    copied = tuple(CopiedFile(**file) for file in data["copied"])
    return Published(entry=_entry(data), target=data["target"], copied=copied)


def _entry(data: dict[str, Any]) -> Entry:
    fields = data["entry"]
    return Entry(**{**fields, "files": tuple(fields["files"])})


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if data["version"] > VERSION:
        raise BurstBufferError(
            f"{path} is of version {data['version']} and this tfdarshan reads up to {VERSION}: take a newer."
        )
    return data
