"""What libdarshan must have counted: the builtin fold of the calls that it saw.

Three cases, row by row. It saw every call: its counters are those of the fold. It missed stats only: one
number is less. It missed others: the calls that it saw are folded again, without the rest. Where part of the
trace was dropped the last is impossible, and it can only be said which counters the missing calls may change.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType

import numpy as np

from tfdarshan.errors import SessionDataError
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import Array, FileBatch, SpoolReader
from tfdarshan.recording.libdarshan.darshan_records import ModuleColumns, rule_of
from tfdarshan.recording.libdarshan.unseen_calls import operation_bits
from tfdarshan.sessions import schema


@dataclass(frozen=True)
class SeenRows:
    """Rows of one module as libdarshan must have them.

    Attributes:
        counters: int64, rows x the module's counters.
        f_counters: float64, rows x the module's floats.
        operations: The operations that it missed, a bit each.
        exact: False: what it missed is in the counters too.
    """

    counters: Array
    f_counters: Array
    operations: Array
    exact: Array

    def part(self, rows: Array) -> SeenRows:
        """Return some of the rows."""
        return SeenRows(self.counters[rows], self.f_counters[rows], self.operations[rows], self.exact[rows])


class SeenFold:
    """The counters of a spool's files without calls that libdarshan missed. Use it in a `with` statement."""

    def __init__(self, reader: SpoolReader) -> None:
        self._whole = reader
        self._reader: SpoolReader | None = None
        if reader.partly_seen():
            # Without the memory for it, as without part of the trace.
            with suppress(SessionDataError):
                self._reader = SpoolReader(reader.path, seen_of=reader)
        self._batches = iter(()) if self._reader is None else self._reader.file_batches(schema.FILES_BATCH)
        self._pending: list[FileBatch] = []

    def __enter__(self) -> SeenFold:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.close()

    def rows(self, batch: FileBatch, rows: Array, columns: ModuleColumns) -> SeenRows:
        """Return `rows` of a batch. Batches come in the order of the files table, each for every module."""
        seen = SeenRows(
            batch.counters[np.ix_(columns.places, rows)].T.copy(),
            batch.f_counters[np.ix_(columns.f_places, rows)].T.copy(),
            self._whole.unseen_operations(batch)[rows],
            np.ones(len(rows), bool),
        )
        others = (seen.operations & ~operation_bits("stat", "fstat")) != 0
        if "POSIX_STATS" in columns.names:
            missed = batch.counters[_place("TFD_UNSEEN_CALLS")][rows]
            seen.counters[:, columns.names.index("POSIX_STATS")] -= np.where(others, 0, missed)
        if self._reader is None:
            seen.exact[others] = False
        else:
            self._fold_again(seen, columns, batch, rows, np.flatnonzero(others))
        return seen

    def _fold_again(
        self, seen: SeenRows, columns: ModuleColumns, batch: FileBatch, rows: Array, which: Array
    ) -> None:
        """Put the counters of the calls that were seen into the rows `which`: zeros where there are none."""
        sums = np.array([rule_of(name) != "constant" for name in columns.names])
        seen.counters[np.ix_(which, np.flatnonzero(sums))] = 0
        seen.f_counters[which] = 0
        wanted = _keys(batch)[rows[which]]
        for part in self._parts(_keys(batch)):
            keys = _keys(part)
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = keys[place] == wanted
            here, there = which[found], place[found]
            seen.counters[here] = part.counters[np.ix_(columns.places, there)].T
            seen.f_counters[here] = part.f_counters[np.ix_(columns.f_places, there)].T

    def _parts(self, keys: Array) -> list[FileBatch]:
        """Return the refolded batches that have rows between the first and the last of `keys`."""
        self._pending = [part for part in self._pending if _keys(part)[-1] >= keys[0]]
        while not self._pending or _keys(self._pending[-1])[-1] < keys[-1]:
            part = next(self._batches, None)
            if part is None:
                break
            self._pending.append(part)
        return self._pending


def _keys(batch: FileBatch) -> Array:
    """Numbers rows in the order of the files table."""
    return batch.file.astype(np.int64) * len(schema.FILE_MODULES) + batch.module


@lru_cache(maxsize=4)
def _place(name: str) -> int:
    return [counter.name for counter in _bridge.counters()].index(name)
