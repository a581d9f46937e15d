"""Puts libdarshan's counters into the rows that the builtin fold made of the same session."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE, Array, FileBatch
from tfdarshan.recording.libdarshan.cross_check import Counted, Verification
from tfdarshan.recording.libdarshan.darshan_records import (
    DarshanRecords,
    ModuleRecords,
    module_columns,
    rule_of,
)
from tfdarshan.recording.libdarshan.expected_rows import SeenFold
from tfdarshan.sessions.schema import MODULES

# libdarshan built for another clock than CLOCK_REALTIME counts from the machine's start.
EARLIEST_REALTIME_S = 1e9


@dataclass
class DarshanOverlay:
    """Replaces counters batch by batch, and compares the two engines on the way.

    Attributes:
        records: What libdarshan counted.
        start_realtime_s: When the session started.
        verification: What came out of the comparison.
        seen: What libdarshan must have counted; set while the files table is written.
        rows: Rows with libdarshan's counters.
        builtin_rows: Rows of files it counted nothing for: they keep the builtin fold's counters.
        carried_rows: Rows of files that an earlier session used too.
    """

    records: DarshanRecords
    start_realtime_s: float
    verification: Verification
    rows: int = 0
    builtin_rows: int = 0
    carried_rows: int = 0
    seen: SeenFold = field(init=False)
    _ids: dict[str, list[Array]] = field(default_factory=dict)

    def apply(self, batch: FileBatch, ids: Array, paths: list[str]) -> None:
        """Changes the counters of a batch in place; `ids` are Darshan's of its files."""
        for index, module in enumerate(MODULES):
            rows = np.flatnonzero((batch.module == index) & ~np.isin(batch.file, list(PATHS_OF_NO_FILE)))
            if len(rows):
                self._apply_module(module, batch, rows, ids[rows], paths)

    def finish(self) -> None:
        """Compares what only libdarshan has: records with activity and without a row."""
        for module in MODULES:
            records = self.records.modules[module]
            seen = np.concatenate(self._ids.get(module, [np.empty(0, np.uint64)]))
            alone = records.active & ~np.isin(records.ids, seen) & _is_counted(records, module)
            self.verification.only_in_darshan(module, records.ids[alone])

    def counts(self) -> dict[str, int]:
        """Gives how many rows have whose counters."""
        return {
            "rows": self.rows,
            "builtin_rows": self.builtin_rows,
            "carried_rows": self.carried_rows,
            "nested_calls": self.records.nested_calls,
        }

    def bounds(self) -> list[str]:
        """Says what libdarshan could not take in."""
        bounds = []
        if self.records.full:
            bounds.append(
                "libdarshan's memory for records was full (darshan_files): "
                "later files have the builtin counters"
            )
        if self.records.torn_records:
            bounds.append(f"{self.records.torn_records:,} libdarshan records changed while they were copied")
        return bounds

    def _apply_module(self, module: str, batch: FileBatch, rows: Array, ids: Array, paths: list[str]) -> None:
        records = self.records.modules[module]
        columns = module_columns(module)
        self._ids.setdefault(module, []).append(ids)
        place = np.minimum(np.searchsorted(records.ids, ids), max(len(records.ids) - 1, 0))
        found = np.zeros(len(rows), bool)
        if len(records.ids):
            found = (records.ids[place] == ids) & records.active[place]
        here, there, alone = rows[found], place[found], np.flatnonzero(~found)
        seen = self.seen.rows(batch, rows, columns)
        counted = self._counted(module, records, there)
        self.verification.compare(
            module, batch, here, counted, seen.part(found), [paths[row] for row in here]
        )
        self.verification.only_in_builtin(
            module, batch, rows[alone], seen.part(alone), [paths[row] for row in rows[alone]]
        )
        known = records.known[there][:, : len(columns.names)]
        for values, into, places, told in (
            (records.counters[there], batch.counters, columns.places, known),
            (counted.f_counters, batch.f_counters, columns.f_places, counted.known[:, len(columns.names) :]),
        ):
            cells = np.ix_(places, here)
            into[cells] = np.where(told, values, into[cells].T).T
        self.rows += len(here)
        self.builtin_rows += len(rows) - len(here)
        self.carried_rows += int(records.carried[there].sum())

    def _counted(self, module: str, records: ModuleRecords, there: Array) -> Counted:
        columns = module_columns(module)
        counters, known = records.counters[there], records.known[there].copy()
        # Without a wrapper for mmap, libdarshan has -1 there: it counted none.
        uncounted = counters < 0
        uncounted[:, [rule_of(name) != "sum" for name in columns.names]] = False
        known[:, : len(columns.names)] |= uncounted
        values = records.f_counters[there].copy()
        stamps = np.array(["TIMESTAMP" in name for name in columns.f_names])
        if self.records.clock_offset_s < EARLIEST_REALTIME_S:
            known[:, len(columns.names) :][:, stamps] = False
        shift = self.records.clock_offset_s - self.start_realtime_s
        values[:, stamps] = np.where(values[:, stamps] != 0, values[:, stamps] + shift, 0)
        return Counted(np.where(uncounted, 0, counters), values, known, records.carried[there])


def _is_counted(records: ModuleRecords, module: str) -> Array:
    """Marks records of which more than a name is known."""
    names = module_columns(module).names
    alignments = [place for place, name in enumerate(names) if "ALIGNMENT" not in name and "MODE" not in name]
    counted: Array = np.any(records.counters[:, alignments] > 0, axis=1)
    return counted
