"""Which process of a session has which records of a log.

A process is a rank with records of its own. What ranks share, Darshan has reduced to one record of rank -1:
such records are one process more, once, and its segments name the rank as their thread.

A log of many ranks is not many sets of tables: above RANK_LIMIT all ranks are one set, in which each row has
its rank's process id, and segments name the rank as their thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tfdarshan.formats.importing.dxt_segments import DxtSegments
from tfdarshan.formats.importing.pydarshan import Records
from tfdarshan.native.spool_reader import EVENT_DTYPES, Array, EventBatch

SHARED = -1
# 0 and 1 are no files, see spool_reader.PATHS_OF_NO_FILE.
FIRST_FILE = 2
# Ranks that have tables of their own, four files each.
RANK_LIMIT = 32


@dataclass(frozen=True)
class RankData:
    """One process's part of a log, or that of all ranks together: rows of the records, and of the segments.

    Attributes:
        pids: The process ids of its ranks, by rank; of what is shared, of rank SHARED.
        rows: Rows of each module's records.
        segments: Rows of the segments.
        files: The file id of each record that any process has, by record.
    """

    pids: dict[int, int]
    rows: dict[str, Array]
    segments: Array
    files: dict[int, int]

    @property
    def rank(self) -> int:
        """Its rank, or the first of its ranks."""
        return next(iter(self.pids))

    @property
    def pid(self) -> int:
        """The process id of that rank."""
        return self.pids[self.rank]

    @property
    def is_merged(self) -> bool:
        """Return whether it stands for many ranks."""
        return len(self.pids) > 1

    def pids_of(self, ranks: Array) -> Array:
        """Return the process ids of ranks, int32."""
        known, place = np.unique(ranks, return_inverse=True)
        pids = np.array([self.pids[rank] for rank in known.tolist()], np.int32)
        return pids[place.reshape(-1)] if len(pids) else np.zeros(0, np.int32)


def split_ranks(
    records: Mapping[str, Records], segments: DxtSegments | None, pids: list[int]
) -> tuple[list[RankData], int]:
    """Return the processes, rank 0 first and what is shared last, and how many segments no record goes with.

    Args:
        records: The records by module.
        segments: The segments.
        pids: Process ids by rank, where they are known; a rank stands for its own otherwise.
    """
    ranks = sorted(
        {rank for part in records.values() for rank in part.rank.tolist()},
        key=lambda rank: (rank == SHARED, rank),
    ) or [0]
    known = np.unique(np.concatenate([np.zeros(0, np.uint64), *(part.record for part in records.values())]))
    files = {record: FIRST_FILE + place for place, record in enumerate(known.tolist())}
    owner_of = _owners(records.get("POSIX"), segments)
    own = [rank for rank in ranks if rank != SHARED]
    groups = [[rank] for rank in ranks]
    if len(own) > RANK_LIMIT:
        groups = [own, *([[SHARED]] if SHARED in ranks else [])]
        # Rows tell ranks apart by these; in containers each may have the same one.
        pids = pids if len(set(pids)) == len(pids) else []
    processes = [
        RankData(
            pids={rank: pids[rank] if 0 <= rank < len(pids) else rank for rank in group},
            rows={module: np.flatnonzero(np.isin(part.rank, group)) for module, part in records.items()},
            segments=np.flatnonzero(np.isin(owner_of, group)),
            files=files,
        )
        for group in groups
    ]
    return processes, len(owner_of) - sum(len(process.segments) for process in processes)


def _owners(posix: Records | None, segments: DxtSegments | None) -> Array:
    """Return the rank whose record each segment belongs to: -1 shared, -2 none."""
    if segments is None:
        return np.zeros(0, np.int64)
    kept = set() if posix is None else set(zip(posix.record.tolist(), posix.rank.tolist(), strict=True))
    pairs = np.stack([segments.record, segments.rank.astype(np.uint64)], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    owners = []
    for record, number in unique.tolist():
        rank = int(np.uint64(number).astype(np.int64))
        mine, shared = (record, rank) in kept, (record, SHARED) in kept
        owners.append(rank if mine else SHARED if shared else SHARED - 1)
    return np.array(owners, np.int64)[inverse.reshape(-1)] if owners else np.zeros(0, np.int64)


class RankSegments:
    """The segments of one process, as the events table has them."""

    def __init__(self, process: RankData, segments: DxtSegments, operations: tuple[int, int]) -> None:
        """Take the codes of the operations that stand for any read and any write."""
        order = np.lexsort((segments.end_ns[process.segments], segments.start_ns[process.segments]))
        self._rows = process.segments[order]
        self._process = process
        self._segments = segments
        self._operations = operations
        self.tids = self._threads()

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the segments in order of start, at most `rows` at a time."""
        for first in range(0, len(self._rows), rows):
            yield self._batch(slice(first, first + rows))

    def _batch(self, part: slice) -> EventBatch:
        rows, segments = self._rows[part], self._segments
        files = self._process.files
        values = {
            "start_ns": segments.start_ns[rows],
            "end_ns": segments.end_ns[rows],
            "tid": self.tids[part],
            "operation": np.where(segments.is_read[rows], *self._operations),
            "flags": np.zeros(len(rows)),
            "error": np.zeros(len(rows)),
            "file": [files[record] for record in segments.record[rows].tolist()],
            "offset": segments.offset[rows],
            "length": segments.length[rows],
        }
        pid = self._process.pids_of(segments.rank[rows]) if self._process.is_merged else None
        arrays = {name: np.asarray(value, EVENT_DTYPES[name]) for name, value in values.items()}
        return EventBatch(**arrays, pid=pid)

    def _threads(self) -> Array:
        """Numbers the threads from 1; a log that does not tell threads apart has one per process."""
        if self._process.rank == SHARED or self._process.is_merged:
            return self._segments.rank[self._rows].astype(np.int32)
        handles, threads = np.unique(self._segments.thread[self._rows], return_inverse=True)
        if len(handles) and handles[-1]:
            return (threads + 1).astype(np.int32)
        return np.full(len(self._rows), self._process.pid, np.int32)
