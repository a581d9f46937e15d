"""Reads and writes of a session as Darshan's traces know them: without failed calls and in-kernel copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.formats.export.file_records import SHARED, Rank
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.process_data import ProcessData

READS = {"POSIX": ("read", "pread", "readv", "preadv"), "STDIO": ("fread",)}
WRITES = {"POSIX": ("write", "pwrite", "writev", "pwritev"), "STDIO": ("fwrite",)}
COLUMNS = ("start_ns", "end_ns", "tid", "file", "offset", "length")


@dataclass(frozen=True)
class Transfers:
    """One process's reads and writes of one module, sorted by start; arrays of equal length."""

    start_ns: Array
    end_ns: Array
    tid: Array
    file: Array
    offset: Array
    length: Array
    is_read: Array


def transfers_of(process: ProcessData, module: str, was_read: Callable[[int], None]) -> Transfers:
    """Read a process's transfers of module "POSIX" or "STDIO"; `was_read` is told the rows read.

    Raises:
        SessionDataError: The events table is damaged or missing.
    """
    reads, both = pa.array(READS[module]), pa.array(READS[module] + WRITES[module])
    parts = []
    for batch in process.batches("events", [*COLUMNS, "operation", "error"]):
        operation = batch.column("operation").cast(pa.string())
        wanted = pc.and_(pc.is_in(operation, value_set=both), pc.equal(batch.column("error"), 0))
        found = batch.select(list(COLUMNS)).filter(wanted)
        is_read = pc.is_in(operation.filter(wanted), value_set=reads)
        parts.append(
            [
                *(found.column(name).to_numpy() for name in COLUMNS),
                is_read.to_numpy(zero_copy_only=False).astype(bool),
            ]
        )
        was_read(batch.num_rows)
    if not parts:
        none = np.zeros(0, np.int64)
        return Transfers(none, none, none, none, none, none, none.astype(bool))
    return Transfers(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def rank_numbers(rank: Rank, transfers: Transfers) -> Array:
    """Return each transfer's rank: where ranks have their tables together, it is in the thread's place."""
    return transfers.tid if rank.rank == SHARED or rank.is_merged else np.full(len(transfers.tid), rank.rank)
