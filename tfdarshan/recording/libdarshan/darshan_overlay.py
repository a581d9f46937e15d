"""Puts libdarshan's counters in place of those that the builtin fold made of the same session.

What libdarshan counted is worked out once, as a frozen `DarshanOverlay`; laid over a batch of rows it gives
another batch. `tables.write_files` is the one place that does so, and says what comes before and after.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class DarshanCounts:
    """What libdarshan counted in a session, and what is to come of comparing it with the builtin fold."""

    records: DarshanRecords
    verification: Verification


@dataclass(frozen=True)
class ModuleRows:
    """Rows of one module in a batch.

    Attributes:
        module: Its name.
        ids: Darshan's ids of the rows' files.
        here: The rows of the batch whose files libdarshan has a record of.
        there: The places of these records.
        found: Which of the module's rows these are, bool.
        alone: The module's other rows of the batch.
    """

    module: str
    ids: Array
    here: Array
    there: Array
    found: Array
    alone: Array


@dataclass(frozen=True)
class LaidOver:
    """A batch with libdarshan's counters in it, and which of its rows they are in."""

    batch: FileBatch
    parts: tuple[ModuleRows, ...]


@dataclass(frozen=True)
class DarshanOverlay:
    """libdarshan's counters in terms of the files table; see `darshan_overlay`.

    Attributes:
        records: What libdarshan counted.
        counted: By module, the records' counters in session time, and which of them are known.
    """

    records: DarshanRecords
    counted: Mapping[str, Counted]

    def laid_over(self, batch: FileBatch, ids: Array) -> LaidOver:
        """Return a batch with libdarshan's counters where it has them; `batch` stays what it is.

        Args:
            batch: Rows of the builtin fold, in session time.
            ids: Darshan's ids of their files.
        """
        counters, f_counters = batch.counters.copy(), batch.f_counters.copy()
        parts = tuple(part for module in MODULES if (part := self._rows(module, batch, ids)) is not None)
        for part in parts:
            columns, counted = module_columns(part.module), self.counted[part.module].part(part.there)
            names = len(columns.names)
            values = self.records.modules[part.module].counters[part.there]
            told = self.records.modules[part.module].known[part.there][:, :names]
            for found, into, places, known in (
                (values, counters, columns.places, told),
                (counted.f_counters, f_counters, columns.f_places, counted.known[:, names:]),
            ):
                cells = np.ix_(places, part.here)
                into[cells] = np.where(known, found, into[cells].T).T
        return LaidOver(dataclasses.replace(batch, counters=counters, f_counters=f_counters), parts)

    def _rows(self, module: str, batch: FileBatch, ids: Array) -> ModuleRows | None:
        of_module = batch.module == MODULES.index(module)
        rows = np.flatnonzero(of_module & ~np.isin(batch.file, list(PATHS_OF_NO_FILE)))
        if not len(rows):
            return None
        records = self.records.modules[module]
        place = np.minimum(np.searchsorted(records.ids, ids[rows]), max(len(records.ids) - 1, 0))
        found = np.zeros(len(rows), bool)
        if len(records.ids):
            found = (records.ids[place] == ids[rows]) & records.active[place]
        return ModuleRows(module, ids[rows], rows[found], place[found], found, rows[~found])


def darshan_overlay(records: DarshanRecords, start_realtime_s: float) -> DarshanOverlay:
    """Work out what libdarshan's counters are in a session that started at a moment."""
    counted = {module: _counted(module, records, start_realtime_s) for module in MODULES}
    return DarshanOverlay(records, counted)


class OverlayReport:
    """Compares the two engines batch by batch, and counts whose counters rows have.

    Args:
        overlay: What libdarshan counted.
        verification: Takes what comes out of the comparison.
        seen: What libdarshan must have counted.
    """

    def __init__(self, overlay: DarshanOverlay, verification: Verification, seen: SeenFold) -> None:
        self.overlay = overlay
        self._verification, self._seen = verification, seen
        self._rows, self._builtin_rows, self._carried_rows = 0, 0, 0
        self._ids: dict[str, list[Array]] = {}

    def laid_over(self, batch: FileBatch, ids: Array, paths: list[str]) -> FileBatch:
        """Return a batch with libdarshan's counters where it has them, after it is compared."""
        laid_over = self.overlay.laid_over(batch, ids)
        self._add(batch, laid_over, paths)
        return laid_over.batch

    def _add(self, builtin: FileBatch, laid_over: LaidOver, paths: list[str]) -> None:
        """Compare a batch of the builtin fold with what was laid over it; batches in the table's order."""
        for part in laid_over.parts:
            module, verification = part.module, self._verification
            rows = np.sort(np.concatenate([part.here, part.alone]))
            seen = self._seen.rows(builtin, rows, module_columns(module))
            verification.compare(
                module, builtin, part.here, self.overlay.counted[module].part(part.there),
                seen.part(part.found), [paths[row] for row in part.here],
            )  # fmt: skip
            verification.only_in_builtin(
                module, builtin, part.alone, seen.part(~part.found), [paths[row] for row in part.alone]
            )
            self._ids.setdefault(module, []).append(part.ids)
            self._rows += len(part.here)
            self._builtin_rows += len(part.alone)
            self._carried_rows += int(self.overlay.records.modules[module].carried[part.there].sum())

    def finish(self) -> None:
        """Compare what only libdarshan has: records with activity and without a row."""
        for module in MODULES:
            records = self.overlay.records.modules[module]
            seen = np.concatenate(self._ids.get(module, [np.empty(0, np.uint64)]))
            alone = records.active & ~np.isin(records.ids, seen) & _is_counted(records, module)
            self._verification.only_in_darshan(module, records.ids[alone])

    def verified(self) -> dict[str, object]:
        """Return what came out of the comparison."""
        return self._verification.result()

    def counts(self) -> dict[str, int]:
        """Return how many rows have whose counters."""
        return {
            "rows": self._rows,
            "builtin_rows": self._builtin_rows,
            "carried_rows": self._carried_rows,
            "nested_calls": self.overlay.records.nested_calls,
        }

    def bounds(self) -> list[str]:
        """Describe what libdarshan could not take in."""
        bounds, records = [], self.overlay.records
        if records.full:
            bounds.append(
                "libdarshan's memory for records was full (darshan_files): "
                "later files have the builtin counters"
            )
        if records.torn_records:
            bounds.append(f"{records.torn_records:,} libdarshan records changed while they were copied")
        return bounds


def _counted(module: str, all_records: DarshanRecords, start_realtime_s: float) -> Counted:
    """Return all records of a module in session time."""
    columns, records = module_columns(module), all_records.modules[module]
    counters, known = records.counters, records.known.copy()
    # Without a wrapper for mmap, libdarshan has -1 there: it counted none.
    uncounted = counters < 0
    uncounted[:, [rule_of(name) != "sum" for name in columns.names]] = False
    known[:, : len(columns.names)] |= uncounted
    values = records.f_counters.copy()
    stamps = np.array(["TIMESTAMP" in name for name in columns.f_names])
    if all_records.clock_offset_s < EARLIEST_REALTIME_S:
        known[:, len(columns.names) :][:, stamps] = False
    shift = all_records.clock_offset_s - start_realtime_s
    values[:, stamps] = np.where(values[:, stamps] != 0, values[:, stamps] + shift, 0)
    return Counted(np.where(uncounted, 0, counters), values, known, records.carried)


def _is_counted(records: ModuleRecords, module: str) -> Array:
    """Mark records of which more than a name is known."""
    names = module_columns(module).names
    alignments = [place for place, name in enumerate(names) if "ALIGNMENT" not in name and "MODE" not in name]
    counted: Array = np.any(records.counters[:, alignments] > 0, axis=1)
    return counted
