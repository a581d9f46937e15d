"""The files table of a process of a log: null for what the log does not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.dxt_segments import DxtSegments
from tfdarshan.formats.importing.pydarshan import NOT_COUNTED, Records
from tfdarshan.formats.importing.ranks import SHARED, RankData
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions import schema
from tfdarshan.sessions.writing.tables import dictionary_array, parquet_file

# What is never below 0, so that -1 says that it was not counted.
COUNTED = ("calls", "s", "s2", "bytes2")


@dataclass(frozen=True)
class Hosts:
    """The host of each rank, and the job's mounts, longest point first."""

    of_rank: Callable[[int], str]
    mounts: Sequence[tuple[str, str]]

    def names(self, ranks: Array) -> Any:
        """Return the hosts of ranks as a dictionary-encoded array."""
        known, place = np.unique(ranks, return_inverse=True)
        names = [self.of_rank(rank) for rank in known.tolist()]
        unique = list(dict.fromkeys(names))
        codes = np.array([unique.index(name) for name in names], np.int32)
        return dictionary_array(codes[place.reshape(-1)], unique)


def write_file_rows(
    path: Path,
    process: RankData,
    records: Mapping[str, Records],
    names: Mapping[int, str],
    hosts: Hosts,
    zero_reads: Array | None,
) -> int:
    """Write the files table of one process.

    Args:
        path: The file to write.
        process: The process.
        records: The log's records by module.
        names: The records' names.
        hosts: Where each rank ran, and the mounts.
        zero_reads: Zero-length reads of each of the process's POSIX rows, -1 where the trace lacks some; None
            where there are no such rows.

    Returns:
        The number of rows.
    """
    columns = schema.files_columns()
    rows = 0
    with parquet_file(path, columns, row_group=schema.FILES_ROW_GROUP, nullable=True) as write:
        for module, part in records.items():
            chosen = process.rows[module]
            for first in range(0, len(chosen), schema.FILES_ROW_GROUP):
                some = slice(first, first + schema.FILES_ROW_GROUP)
                zero = zero_reads[some] if module == "POSIX" and zero_reads is not None else None
                write(_arrays(module, part, chosen[some], process, names, hosts, zero))
            rows += len(chosen)
    return rows


def count_zero_reads(process: RankData, posix: Records, segments: DxtSegments) -> Array:
    """Count the reads of nothing of each POSIX row of a process: -1 where its trace is not complete."""
    mine = process.segments[segments.is_read[process.segments]]
    rows = process.rows["POSIX"]
    # What is shared is one record of all ranks.
    ranks = np.full(len(mine), SHARED) if process.rank == SHARED else segments.rank[mine]
    pairs = np.stack([segments.record[mine], ranks.astype(np.uint64)], axis=1)
    seen, place = np.unique(pairs, axis=0, return_inverse=True)
    reads = np.bincount(place.reshape(-1), minlength=len(seen))
    zero = np.bincount(place.reshape(-1), segments.length[mine] == 0, minlength=len(seen)).astype(np.int64)
    where = {(record, rank): number for number, (record, rank) in enumerate(seen.tolist())}
    of_rank = posix.rank[rows].astype(np.uint64).tolist()
    counts = []
    for record, rank, counted in zip(
        posix.record[rows].tolist(), of_rank, posix.counters["POSIX_READS"][rows].tolist(), strict=True
    ):
        number = where.get((record, rank))
        traced = 0 if number is None else int(reads[number])
        counts.append(-1 if traced != counted else 0 if number is None else int(zero[number]))
    return np.array(counts, np.int64)


def _arrays(
    module: str,
    part: Records,
    chosen: Array,
    process: RankData,
    names: Mapping[int, str],
    hosts: Hosts,
    zero_reads: Array | None,
) -> list[Any]:
    record = part.record[chosen].tolist()
    paths = [names.get(number) or darshan_format.nameless(number) for number in record]
    points, types = zip(*(_mount_of(path, hosts.mounts) for path in paths), strict=True)
    same = np.zeros(len(record), np.int8)
    return [
        pa.array(np.array([process.files[number] for number in record], np.uint32)),
        pa.array(paths, pa.string()),
        dictionary_array(same, [module]),
        pa.array(process.pids_of(part.rank[chosen])),
        hosts.names(part.rank[chosen]),
        _strings(points),
        _strings(types),
        pa.array(np.full(len(record), -1, np.int64)),
        *(_counter(column, module, part.counters, chosen, zero_reads) for column in schema.counter_columns()),
        *(_counter(column, module, part.f_counters, chosen, None) for column in schema.f_counter_columns()),
    ]


def _counter(
    column: schema.Column, module: str, known: Mapping[str, Array], chosen: Array, zero_reads: Array | None
) -> Any:
    if column.name == "TFD_ZERO_READS" and zero_reads is not None:
        return pa.array(zero_reads, mask=zero_reads < 0)
    if column.name in known:
        values = known[column.name][chosen]
        # Darshan's -1 in a count or a time: this version of it, or this system, did not count it. A clock
        # that was set back leaves times just below 0.
        return pa.array(values, mask=values == NOT_COUNTED if column.unit in COUNTED else None)
    other_module = column.name.startswith(schema.MODULES) and not column.name.startswith(module)
    values = np.zeros(len(chosen), column.dtype)
    return pa.array(values) if other_module else pa.array(values, mask=np.ones(len(chosen), bool))


def _strings(values: Sequence[str]) -> Any:
    unique = list(dict.fromkeys(values))
    codes = {value: code for code, value in enumerate(unique)}
    return dictionary_array(np.array([codes[value] for value in values], np.int32), unique)


def _mount_of(path: str, mounts: Sequence[tuple[str, str]]) -> tuple[str, str]:
    for point, fs_type in mounts:
        if path == point or path.startswith(point.rstrip("/") + "/"):
            return point, fs_type
    return "", ""
