"""Reads what processes noted of their steps and batches: rows in files of the spool folder.

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

MAGIC, VERSION, HEADER_BYTES = b"TFDBATCH", 2, 64
START, REQUEST, END, FETCH, OPTIMIZER, TEXT, STEP, EXPOSED = range(1, 9)
# Rows handled at a time: 8 MiB.
BLOCK_ROWS = 131_072
CAME, STOPPED, FAILED = range(3)
FIRST_ROW = np.dtype(
    [
        ("kind", "<i4"), ("outcome", "<i4"), ("begin_ns", "<i8"), ("end_ns", "<i8"), ("thread", "<i8"),
        ("pass", "<i4"), ("ordinal", "<i4"), ("worker", "<i4"), ("queued", "<i4"), ("kept", "<i4"),
        ("unused", "<i4"),
    ]
)  # fmt: skip
ROW = np.dtype([*FIRST_ROW.descr, ("of_steps", "<i8")])
# By the version of the file.
ROWS = {1: FIRST_ROW, VERSION: ROW}
# With the time of a wait in which the GPU was idle, in ns, UNKNOWN if that was not measured.
TIMED = np.dtype([*FIRST_ROW.descr, ("exposed_ns", "<i8")])
UNKNOWN = -1
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
        rows: In order of time, an array of TIMED without text and marked steps; times in ns since the epoch.
        notes: What was said between them: objects of JSON.
        left_out: How many rows found no room.
        marked: How many steps it marked.
    """

    pid: int
    rows: Array
    notes: list[dict[str, Any]]
    left_out: int
    marked: int = 0

    @property
    def stepped(self) -> bool:
        """Whether it marked steps, or an optimizer stepped."""
        return bool(self.marked or (self.rows["kind"] == OPTIMIZER).any())

    @property
    def took_batches(self) -> bool:
        """Whether a batch came that it had requested."""
        return bool(((self.rows["kind"] == REQUEST) & (self.rows["outcome"] == CAME)).any())

    @property
    def span_ns(self) -> tuple[int, int]:
        """From when until when something was noted but for marked steps, in ns since the epoch."""
        if not len(self.rows):
            return 0, 0
        return int(self.rows["begin_ns"].min()), int(self.rows["end_ns"].max())

    @property
    def rank(self) -> dict[str, Any]:
        """What it noted as its first pass or step began, as `pass_note.rank_note` has it; else nothing."""
        return next((note for note in self.notes if "start_cpu_s" in note), {})


def read_rows(folder: Path) -> list[ProcessRows]:
    """Return what each process noted; a file that is damaged is left out."""
    read = (_read_file(path) for path in sorted(folder.glob(f"*{SUFFIX}")))
    return [found for found in read if found is not None]


def row_blocks(folder: Path) -> Iterator[tuple[int, Array]]:
    """Yield the number of each process with all that it noted, in arrays of BLOCK_ROWS of ROW at most."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        header = _header(path)
        if header is not None:
            for rows in _blocks(path, header):
                yield int(header["pid"]), rows


def _read_file(path: Path) -> ProcessRows | None:
    header = _header(path)
    if header is None:
        return None
    empty = np.zeros(0, ROWS[int(header["version"])])
    texts, events, marked = [empty], [empty], 0
    for rows in _blocks(path, header):
        kind = rows["kind"]
        marked += int(np.count_nonzero(kind == STEP))
        texts.append(rows[kind == TEXT])
        events.append(rows[(kind != TEXT) & (kind != STEP)])
    notes, timed = list(_notes(np.concatenate(texts))), timed_rows(np.concatenate(events))
    return ProcessRows(int(header["pid"]), timed, notes, int(header["left_out"]), marked)


def _header(path: Path) -> Any:
    """Return a file's header, None if the file is damaged."""
    try:
        with path.open("rb") as file:
            data = file.read(HEADER_BYTES)
    except OSError:
        return None
    if len(data) < HEADER_BYTES:
        return None
    header = np.frombuffer(data, HEADER, 1)[0]
    row = ROWS.get(int(header["version"]))
    known = header["magic"] == MAGIC and row is not None and header["row_bytes"] == row.itemsize
    return header if known else None


def _blocks(path: Path, header: Any) -> Iterator[Array]:
    row, count = ROWS[int(header["version"])], int(header["rows"])
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        while count > 0:
            data = file.read(min(count, BLOCK_ROWS) * row.itemsize)
            rows = np.frombuffer(data, row, len(data) // row.itemsize)
            if not len(rows):
                return
            count -= len(rows)
            yield rows


def timed_rows(rows: Array) -> Array:
    """Return events in order of time, each wait with the time in which the GPU was idle: an array of TIMED.

    Args:
        rows: Without text and marked steps. Those of EXPOSED name a wait by its beginning.
    """
    ordered = rows[np.argsort(rows["begin_ns"], kind="stable")]
    is_exposed = ordered["kind"] == EXPOSED
    events, told = ordered[~is_exposed], ordered[is_exposed]
    timed = np.zeros(len(events), TIMED)
    for name in FIRST_ROW.names or ():
        timed[name] = events[name]
    place = np.searchsorted(told["begin_ns"], events["begin_ns"])
    known = np.isin(events["kind"], (START, REQUEST)) & np.isin(events["begin_ns"], told["begin_ns"])
    timed["exposed_ns"] = UNKNOWN
    timed["exposed_ns"][known] = (told["end_ns"] - told["begin_ns"])[place[known]]
    return timed


def _notes(rows: Array) -> Iterator[dict[str, Any]]:
    """Yield the notes: a row of text says how many bytes follow in later ones."""
    text = b""
    for row in rows:
        text += row.tobytes()[8 : FIRST_ROW.itemsize]
        if row["outcome"]:
            continue
        with suppress(ValueError):
            note = json.loads(text.rstrip(b"\0"))
            if isinstance(note, dict):
                yield note
        text = b""
