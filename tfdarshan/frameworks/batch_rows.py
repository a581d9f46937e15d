"""Reads what processes noted of their batches: rows in files of the spool folder.

Source: csrc/batches/batch_log.h, which writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.frameworks.pass_note import SUFFIX
from tfdarshan.native.spool_reader import Array

MAGIC, VERSION, HEADER_BYTES = b"TFDBATCH", 1, 64
START, REQUEST, END, FETCH, OPTIMIZER, TEXT = range(1, 7)
CAME, STOPPED, FAILED = range(3)
ROW = np.dtype(
    [
        ("kind", "<i4"), ("outcome", "<i4"), ("begin_ns", "<i8"), ("end_ns", "<i8"), ("thread", "<i8"),
        ("pass", "<i4"), ("ordinal", "<i4"), ("worker", "<i4"), ("queued", "<i4"), ("kept", "<i4"),
        ("unused", "<i4"),
    ]
)  # fmt: skip
HEADER = np.dtype(
    [
        ("magic", "S8"), ("version", "<u4"), ("row_bytes", "<u4"), ("rows", "<u8"), ("left_out", "<u8"),
        ("pid", "<i8"),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class ProcessRows:
    """What one process noted.

    Attributes:
        pid: The process's number.
        rows: In order of time, an array of ROW without text; times in ns since the epoch.
        notes: What was said between them: objects of JSON.
        left_out: How many rows found no room.
    """

    pid: int
    rows: Array
    notes: list[dict[str, Any]]
    left_out: int


def read_rows(folder: Path) -> list[ProcessRows]:
    """Return what each process noted; a file that is damaged is left out."""
    read = (_read_file(path) for path in sorted(folder.glob(f"*{SUFFIX}")))
    return [found for found in read if found is not None]


def _read_file(path: Path) -> ProcessRows | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < HEADER_BYTES:
        return None
    header = np.frombuffer(data, HEADER, 1)[0]
    if header["magic"] != MAGIC or header["version"] != VERSION or header["row_bytes"] != ROW.itemsize:
        return None
    count = min(int(header["rows"]), (len(data) - HEADER_BYTES) // ROW.itemsize)
    rows = np.frombuffer(data, ROW, count, HEADER_BYTES)
    is_text = rows["kind"] == TEXT
    timed = rows[~is_text]
    ordered = timed[np.argsort(timed["begin_ns"], kind="stable")]
    return ProcessRows(int(header["pid"]), ordered, list(_notes(rows[is_text])), int(header["left_out"]))


def _notes(rows: Array) -> Iterator[dict[str, Any]]:
    """Yield the notes: a row of text says how many bytes follow in later ones."""
    text = b""
    for row in rows:
        text += row.tobytes()[8:]
        if row["outcome"]:
            continue
        with suppress(ValueError):
            note = json.loads(text.rstrip(b"\0"))
            if isinstance(note, dict):
                yield note
        text = b""
