"""Compares libdarshan with the builtin fold: both counted the same calls, so each checks the other.

libdarshan must have exactly what the fold makes of the calls that it saw (`seen_rows`). What the others
add is named by kind, with the calls and the counters they changed; so are the few other differences that
libdarshan's limits explain. Any other is unexplained, and a defect of one of the two.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tfdarshan.native.spool_reader import Array, FileBatch
from tfdarshan.recording.libdarshan.darshan_records import module_columns, record_name, rule_of
from tfdarshan.recording.libdarshan.expected_rows import SeenRows
from tfdarshan.recording.libdarshan.explained_differences import (
    CLOCK_TOLERANCE_S,
    KINDS,
    Rows,
    explanations,
    unseen_kinds,
)
from tfdarshan.recording.libdarshan.unseen_calls import explained, may_change

UNSEEN_KINDS = ("stat names", "mmap", "opened before", "unseen calls")


@dataclass
class Difference:
    """All differences of one kind: on which counters, on how many rows, and one of them.

    `calls` has, for each operation that libdarshan missed, the counters it changed.
    """

    kind: str
    counters: set[str] = field(default_factory=set)
    calls: dict[str, set[str]] = field(default_factory=dict)
    rows: int = 0
    example: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "kind": self.kind,
            "meaning": KINDS[self.kind],
            "counters": sorted(self.counters),
            "calls": {call: sorted(counters) for call, counters in sorted(self.calls.items())},
            "rows": self.rows,
            "example": self.example,
        }


@dataclass(frozen=True)
class Counted:
    """What libdarshan counted of some rows: rows x counters, and rows x floats.

    `known` is False where its value cannot be told from its snapshots; its columns are those of both.
    """

    counters: Array
    f_counters: Array
    known: Array
    carried: Array

    def part(self, rows: Array) -> Counted:
        """Return some of the rows."""
        return Counted(self.counters[rows], self.f_counters[rows], self.known[rows], self.carried[rows])


@dataclass
class Verification:
    """The comparison of a session's rows.

    Attributes:
        exclude: Its exclude patterns.
        include: Its include patterns.
        foreign: libdarshan was preloaded and is only read.
        full: libdarshan had no room for more files.
    """

    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    foreign: bool = False
    full: bool = False
    compared: set[str] = field(default_factory=set)
    rows: int = 0
    agreeing: int = 0
    inexact: int = 0
    differences: dict[str, Difference] = field(default_factory=dict)
    _files: set[int] = field(default_factory=set)

    def compare(
        self, module: str, batch: FileBatch, places: Array, darshan: Counted, seen: SeenRows, paths: list[str]
    ) -> None:
        """Compare rows that both have; `seen` is what libdarshan must have counted."""
        columns = module_columns(module)
        names = (*columns.names, *columns.f_names)
        fold = (
            batch.counters[np.ix_(columns.places, places)].T,
            batch.f_counters[np.ix_(columns.f_places, places)].T,
        )
        wrong = _apart(darshan, seen.counters, seen.f_counters)
        missed = _apart(darshan, *fold) & ~wrong
        values = np.concatenate([darshan.counters, darshan.f_counters], axis=1)
        expected = np.concatenate([seen.counters, seen.f_counters], axis=1)
        rows = Rows(
            module, batch, places, names, (values, expected), darshan.carried, seen.operations, seen.exact
        )
        whole = replace(rows, values=(values, np.concatenate(fold, axis=1)))
        self.rows += len(places)
        self.compared.update(name for name in names if "_RANK" not in name)
        self._files.update(batch.file[places].tolist())
        self.agreeing += int((~(wrong | missed).any(axis=1)).sum())
        self.inexact += int((~seen.exact).sum())
        for kind, cells in unseen_kinds(whole, missed):
            self._note(kind, cells, whole, paths)
        kinds = explanations(rows, foreign=self.foreign)
        for kind, cells in kinds:
            self._note(kind, wrong & cells, rows, paths)
            wrong &= ~cells
        self._note("unexplained", wrong, rows, paths)
        self._note_copies(rows, paths)

    def only_in_builtin(
        self, module: str, batch: FileBatch, places: Array, seen: SeenRows, paths: list[str]
    ) -> None:
        """Name rows of files for which libdarshan counted nothing."""
        columns = module_columns(module)
        sums = np.flatnonzero([rule_of(name) == "sum" for name in columns.names])
        names = tuple(columns.names[place] for place in sums)
        fold = batch.counters[np.ix_(columns.places[sums], places)].T
        none = np.zeros(len(places), bool)
        rows = Rows(
            module, batch, places, names, (np.zeros_like(fold), fold), none, seen.operations, seen.exact
        )
        unseen = np.where(
            seen.exact[:, np.newaxis], seen.counters[:, sums] == 0, may_change(seen.operations, names)
        )
        wrong = fold > 0
        self._files.update(batch.file[places[wrong.any(axis=1)]].tolist())
        self.inexact += int((~seen.exact).sum())
        for kind, cells in (
            ("preloaded", np.full(wrong.shape, self.foreign)),
            *unseen_kinds(rows, wrong & unseen),
            ("no room", np.full(wrong.shape, self.full)),
        ):
            self._note(kind, wrong & cells, rows, paths)
            wrong &= ~cells
        self._note("unexplained", wrong, rows, paths)
        self._note_copies(rows, paths)

    def only_in_darshan(self, module: str, ids: Array) -> None:
        """Name records that have activity and no row."""
        for record_id in ids.tolist():
            path = record_name(record_id)
            left_out = _matches(path, self.exclude) and not _matches(path, self.include)
            kind = "preloaded" if self.foreign else "excluded files" if left_out else "unexplained"
            found = self._of(kind)
            found.counters.add(f"{module}_OPENS")
            found.rows += 1
            found.example = found.example or {"path": path}

    def result(self) -> dict[str, Any]:
        """Return what the metadata says."""
        differences = [self.differences[kind].as_dict() for kind in KINDS if kind in self.differences]
        unexplained = self.differences.get("unexplained")
        return {
            "counters": len(self.compared),
            "files": len(self._files),
            "rows": self.rows,
            "agreeing_rows": self.agreeing,
            "inexact_rows": self.inexact,
            "unexplained_rows": unexplained.rows if unexplained else 0,
            "differences": differences,
        }

    def _of(self, kind: str) -> Difference:
        return self.differences.setdefault(kind, Difference(kind))

    def _note(self, kind: str, where: Array, rows: Rows, paths: list[str]) -> None:
        marked = np.flatnonzero(where.any(axis=1))
        if not len(marked):
            return
        found = self._of(kind)
        found.counters.update(np.array(rows.names)[where.any(axis=0)].tolist())
        found.rows += len(marked)
        if kind in UNSEEN_KINDS:
            for call, counters in explained(rows.operations, rows.names, where).items():
                found.calls.setdefault(call, set()).update(counters)
        if not found.example:
            row, column = int(marked[0]), int(np.flatnonzero(where[marked[0]])[0])
            darshan, builtin = (side[row, column].item() for side in rows.values)
            counter = rows.names[column]
            found.example = {
                "path": paths[row], "counter": counter, "darshan": darshan, "builtin": builtin
            }  # fmt: skip

    def _note_copies(self, rows: Rows, paths: list[str]) -> None:
        """Name what libdarshan has no counters for, which is no difference of counters that both have."""
        if rows.module != "POSIX":
            return
        copies = tuple(f"TFD_COPY_{way}" for way in ("READS", "READ_BYTES", "WRITES", "WRITE_BYTES"))
        counts = np.stack([rows.own(name) for name in copies], axis=1)
        apart = replace(rows, names=copies, values=(np.zeros_like(counts), counts))
        self._note("in-kernel copies", counts > 0, apart, paths)


def _apart(darshan: Counted, counters: Array, f_counters: Array) -> Array:
    times = np.abs(darshan.f_counters - f_counters) > CLOCK_TOLERANCE_S
    apart: Array = darshan.known & np.concatenate([darshan.counters != counters, times], axis=1)
    return apart


def _matches(path: str, patterns: Sequence[str]) -> bool:
    # Patterns name files without "..".
    path = os.path.normpath(path) if "/../" in path else path
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)
