"""Processes that did little share files: one has their metadata, and one each kind of table.

A table of a few rows is mostly its footer, and to make a file durable takes milliseconds: with files of its
own, a short child takes longer to write than it ran.

LIST is JSON, an object a line. A line with `shared` has entries that many processes have in common, such as
the mounts. Any other line is a process: its own entries, and in `of` which line of shared entries, counted
from 0, has the rest. Its part of a table is `rows` rows from `first` on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole

LIST = "gathered.jsonl"
TABLES = {"files": "gathered.files.parquet", "events": "gathered.events.parquet"}
# If they made calls without a segment.
UNTRACED = "gathered.untraced.parquet"
# Entries of the metadata that are the same for most processes of a session.
SHARED = (
    "schema_version", "session", "owner", "host", "origin_realtime_ns", "engine", "versions", "options",
    "job", "mounts", "operations",
)  # fmt: skip


def gathered_metas(directory: Path) -> list[dict[str, Any]]:
    """Return the metadata of the processes that are together, in the order in which they were started.

    Args:
        directory: The session's folder; without such processes it has no LIST.

    Raises:
        OSError: LIST cannot be read.
        DecodingError: It is damaged.
    """
    try:
        content = read_whole(directory / LIST, growth=JSON_GROWTH)
    except FileNotFoundError:
        return []
    return list(_metas(content.splitlines()))


def _metas(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    from tfdarshan.sessions.checked_json import DecodingError, check, decode_json
    from tfdarshan.sessions.meta_shape import GatheredShape

    shared: list[dict[str, Any]] = []
    for line in lines:
        entries = decode_json(line)
        shape = check(entries, GatheredShape)
        if shape.shared is not None:
            shared.append(shape.shared)
        elif shape.of is None or shape.of >= len(shared):
            raise DecodingError("a process names no line of shared entries")
        else:
            yield shared[shape.of] | {name: entry for name, entry in entries.items() if name != "of"}
