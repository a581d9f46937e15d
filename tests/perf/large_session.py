"""Writes sessions of any number of events quickly: one epoch of made-up calls, again and again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.made_up_session import image_job, write_job
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_directory import META_SUFFIX

FILES, THREADS, EVENTS_PER_FILE = 100_000, 8, 5
# Times of the metadata that grow with the epochs.
TIMES = ("io_ns", "read_ns", "write_ns", "meta_ns", "thread_ns")


def write_large_session(logdir: Path, events: int) -> Path:
    """Write a session of one process, and return its folder.

    Its files' counters are those of one epoch, which costs no more to read than those of all.

    Args:
        logdir: The logdir.
        events: How many events there are, a multiple of FILES * EVENTS_PER_FILE.
    """
    epochs = events // (FILES * EVENTS_PER_FILE)
    folder = logdir / "plugins" / "tfdarshan" / "2024_01_01_00_00_00"
    job = image_job(FILES, 1, THREADS)
    write_job(folder, job)
    (events_path,) = folder.glob("*.events.parquet")
    _repeat(events_path, epochs, job.duration_ns)
    (meta_path,) = folder.glob(f"*{META_SUFFIX}")
    meta = json.loads(meta_path.read_text())
    _many_times(meta, epochs)
    meta_path.write_text(json.dumps(meta))
    return folder


def _repeat(path: Path, epochs: int, epoch_ns: int) -> None:
    """Write the events of an epoch so many times, each time an epoch later, and in whole row groups."""
    found = pq.read_table(path)
    kept = pq.ParquetFile(path).metadata.row_group(0).column(0).compression
    unwritten = path.with_suffix(".new")
    with pq.ParquetWriter(unwritten, found.schema, compression=kept.lower(), **_encodings(found)) as writer:
        rest: Any = None
        for epoch in range(epochs):
            later = _later(found, epoch * epoch_ns)
            rows = later if rest is None else pa.concat_tables([rest, later])
            whole = len(rows) // schema.EVENTS_ROW_GROUP * schema.EVENTS_ROW_GROUP
            writer.write_table(rows.slice(0, whole), row_group_size=schema.EVENTS_ROW_GROUP)
            rest = rows.slice(whole)
        writer.write_table(rest, row_group_size=schema.EVENTS_ROW_GROUP)
    unwritten.replace(path)


def _encodings(table: pa.Table) -> dict[str, Any]:
    """Return what tables are written with: times as differences, texts and small numbers by dictionary."""
    times = ("start_ns", "end_ns")
    plain = (*times, "file", "offset", "length")
    return {
        "use_dictionary": [name for name in table.schema.names if name not in plain],
        "column_encoding": dict.fromkeys(times, "DELTA_BINARY_PACKED"),
        "write_statistics": True,
    }


def _later(table: pa.Table, shift_ns: int) -> pa.Table:
    for name in ("start_ns", "end_ns"):
        place = table.schema.get_field_index(name)
        moved = pa.array(table.column(name).to_numpy() + np.int64(shift_ns))
        table = table.set_column(place, table.schema.field(place), moved)
    return table


def _many_times(meta: dict[str, Any], epochs: int) -> None:
    for name in TIMES:
        meta["time"][name] *= epochs
    for name in ("events", "segments"):
        meta["counts"][name] *= epochs
    for thread in meta["threads"]:
        thread["events"] *= epochs
    meta["duration_ns"] *= epochs
    meta["tables"]["events"]["rows"] *= epochs
