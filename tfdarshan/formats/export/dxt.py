"""A session's POSIX reads and writes as DXT_POSIX records of version 1: one per file and process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.file_records import SHARED, Rank
from tfdarshan.formats.export.job_region import cut_text
from tfdarshan.formats.export.transfers import Transfers, rank_numbers, transfers_of
from tfdarshan.native.spool_reader import Array


def dxt_records(ranks: Sequence[Rank], was_read: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the records, one at a time, each with its segments: writes first, both in order of start.

    `was_read` is told the rows read.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    for rank in ranks:
        transfers = transfers_of(rank.process, "POSIX", was_read)
        numbers = rank_numbers(rank, transfers)
        record, known = rank.record_of(transfers.file)
        order = np.lexsort((transfers.start_ns, transfers.is_read, numbers, record))
        order = order[known[order]]
        yield from _records(rank, transfers, order, record, numbers)


def _records(
    rank: Rank, transfers: Transfers, order: Array, record: Array, numbers: Array
) -> Iterator[bytes]:
    segments = _segments(transfers, order)
    record, numbers, is_read = record[order], numbers[order], transfers.is_read[order]
    changes = (np.diff(record) != 0) | (np.diff(numbers) != 0)
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else [0]
    head = np.zeros((), darshan_format.DXT_RECORD)
    head["shared"] = SHARED if rank.rank == SHARED else 0
    for first, end in pairwise(edges):
        reads = int(is_read[first:end].sum())
        head["id"], head["rank"] = record[first], numbers[first]
        head["host"] = cut_text(rank.host_of(int(numbers[first])), darshan_format.HOST_BYTES - 1)
        head["reads"], head["writes"] = reads, end - first - reads
        yield head.tobytes() + segments[first:end].tobytes()


def _segments(transfers: Transfers, order: Array) -> Array:
    segments = np.zeros(len(order), darshan_format.SEGMENTS[darshan_format.MODULE_VERSIONS["DXT_POSIX"]])
    segments["offset"], segments["length"] = transfers.offset[order], transfers.length[order]
    segments["start_s"], segments["end_s"] = transfers.start_ns[order] / 1e9, transfers.end_ns[order] / 1e9
    return segments
