"""Compares libdarshan with the builtin fold: both counted the same calls, so each checks the other.

Differences that follow from what libdarshan does not see are named by kind. Any other is unexplained, and a
defect of one of the two.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfdarshan import _bridge
from tfdarshan.darshan_records import module_columns, record_name, rule_of
from tfdarshan.spool_reader import Array, FileBatch

# Timestamps and durations are taken by two clock readings around the same call: a thread may lose the
# processor between them.
CLOCK_TOLERANCE_S = 0.05
# Calls that were under way at stop may be in one count and not in the other.
UNDER_WAY_S = 0.005

KINDS = {
    "stat names": "libdarshan has no wrapper for the stat functions of newer C libraries",
    "opened before": "files opened before the session are unknown to libdarshan",
    "unseen calls": "calls libdarshan has no wrapper for, or cannot be given",
    "in-kernel copies": "sendfile, copy_file_range and splice move positions that libdarshan does not see",
    "alignment": "libdarshan does not know the block size of this kind of mount",
    "mmap": "this libdarshan has no wrapper for mmap",
    "told of a close": "libdarshan is told that a descriptor closed with its stream, or was reused, is gone",
    "two clocks": "durations and timestamps are read on both sides of a call",
    "under way": "calls that were under way when the session stopped",
    "excluded files": "files that the exclude patterns leave out have libdarshan records and no rows",
    "preloaded": "a preloaded libdarshan also counts calls that pass no patched slot",
    "earlier sessions": "what libdarshan remembers of a file from an earlier session",
    "unexplained": "no known limit of libdarshan explains these",
}

_CLOCKED = ("POSIX_MAX_READ_TIME_SIZE", "POSIX_MAX_WRITE_TIME_SIZE")
_POSITIONS = ("MAX_BYTE", "SEQ_", "CONSEC_", "STRIDE", "FILE_NOT_ALIGNED")


@dataclass
class Difference:
    """All differences of one kind: on which counters, on how many rows, and one of them."""

    kind: str
    counters: set[str] = field(default_factory=set)
    rows: int = 0
    example: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Gives it as JSON has it."""
        return {
            "kind": self.kind,
            "meaning": KINDS[self.kind],
            "counters": sorted(self.counters),
            "rows": self.rows,
            "example": self.example,
        }


@dataclass
class Verification:
    """The comparison of a session's rows.

    Attributes:
        duration_s: How long the session took.
        exclude: Its exclude patterns.
        include: Its include patterns.
        foreign: libdarshan was preloaded and is only read.
    """

    duration_s: float
    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    foreign: bool = False
    compared: set[str] = field(default_factory=set)
    rows: int = 0
    agreeing: int = 0
    differences: dict[str, Difference] = field(default_factory=dict)
    _files: set[int] = field(default_factory=set)

    def compare(
        self,
        module: str,
        batch: FileBatch,
        rows: Array,
        darshan: tuple[Array, Array],
        carried: Array,
        paths: list[str],
    ) -> None:
        """Compares rows that both have; `darshan` holds its integers and floats, one row each."""
        columns = module_columns(module)
        fold = batch.counters[np.ix_(columns.places, rows)].T
        f_fold = batch.f_counters[np.ix_(columns.f_places, rows)].T
        names = np.array((*columns.names, *columns.f_names))
        wrong = np.concatenate([darshan[0] != fold, np.abs(darshan[1] - f_fold) > CLOCK_TOLERANCE_S], axis=1)
        self.rows += len(rows)
        self.compared.update(name for name in names.tolist() if "_RANK" not in name)
        self._files.update(batch.file[rows].tolist())
        self.agreeing += int((~wrong.any(axis=1)).sum())
        values = np.concatenate([darshan[0], darshan[1]], axis=1), np.concatenate([fold, f_fold], axis=1)
        context = _Context(self, module, batch, rows, names, values, carried)
        for kind, explained in context.kinds():
            self._note(kind, wrong & explained, names, values, paths)
            wrong &= ~explained
        self._note("unexplained", wrong, names, values, paths)

    def only_in_builtin(self, module: str, batch: FileBatch, rows: Array, paths: list[str]) -> None:
        """Names rows of files for which libdarshan counted nothing."""
        columns = module_columns(module)
        sums = [place for place, name in enumerate(columns.names) if rule_of(name) == "sum"]
        names = np.array(columns.names)[sums]
        fold = batch.counters[np.ix_(columns.places[sums], rows)].T
        wrong = fold > 0
        opened = fold[:, names == f"{module}_OPENS"][:, 0] > 0
        only_stats = (wrong == (names == "POSIX_STATS")).all(axis=1)
        unseen = _column(batch, "TFD_UNSEEN_CALLS", rows) > 0
        values = np.zeros_like(fold), fold
        self._files.update(batch.file[rows[wrong.any(axis=1)]].tolist())
        for kind, which in (
            ("preloaded", np.full(len(rows), self.foreign)),
            ("stat names", only_stats & unseen),
            ("opened before", ~opened & unseen),
            ("unseen calls", unseen),
        ):
            self._note(kind, wrong & which[:, np.newaxis], names, values, paths)
            wrong &= ~which[:, np.newaxis]
        self._note("unexplained", wrong, names, values, paths)

    def only_in_darshan(self, module: str, ids: Array) -> None:
        """Names records that have activity and no row."""
        for record_id in ids.tolist():
            path = record_name(record_id)
            left_out = _matches(path, self.exclude) and not _matches(path, self.include)
            kind = "preloaded" if self.foreign else "excluded files" if left_out else "unexplained"
            self._add(kind, {f"{module}_OPENS"}, 1, {"path": path})

    def result(self) -> dict[str, Any]:
        """Gives what the metadata says."""
        differences = [self.differences[kind].as_dict() for kind in KINDS if kind in self.differences]
        unexplained = self.differences.get("unexplained")
        return {
            "counters": len(self.compared),
            "files": len(self._files),
            "rows": self.rows,
            "agreeing_rows": self.agreeing,
            "unexplained_rows": unexplained.rows if unexplained else 0,
            "differences": differences,
        }

    def _note(
        self, kind: str, where: Array, names: Array, values: tuple[Array, Array], paths: list[str]
    ) -> None:
        rows = np.flatnonzero(where.any(axis=1))
        if not len(rows):
            return
        row, column = int(rows[0]), int(np.flatnonzero(where[rows[0]])[0])
        example = {
            "path": paths[row],
            "counter": str(names[column]),
            "darshan": values[0][row, column].item(),
            "builtin": values[1][row, column].item(),
        }
        self._add(kind, set(names[where.any(axis=0)].tolist()), len(rows), example)

    def _add(self, kind: str, counters: set[str], rows: int, example: dict[str, Any]) -> None:
        found = self.differences.setdefault(kind, Difference(kind))
        found.counters |= counters
        found.rows += rows
        found.example = found.example or example


@dataclass(frozen=True)
class _Context:
    """What decides about the kinds of a batch's differences: boolean arrays of rows x counters."""

    verification: Verification
    module: str
    batch: FileBatch
    rows: Array
    names: Array
    values: tuple[Array, Array]
    carried: Array

    def kinds(self) -> list[tuple[str, Array]]:
        floats = self._columns(lambda name: "_F_" in name or name in _CLOCKED)
        positions = self._columns(lambda name: any(part in name for part in _POSITIONS))
        unseen = _column(self.batch, "TFD_UNSEEN_CALLS", self.rows)
        copies = self._own("TFD_COPY_READS") + self._own("TFD_COPY_WRITES") > 0
        everything = np.ones(len(self.names), bool)
        only_stats = unseen == self._lacking("POSIX_STATS")
        return [
            ("told of a close", self._told_of_a_close()),
            ("two clocks", _cross(np.ones(len(self.rows), bool), floats) & ~self._one_sided()),
            ("mmap", self._mmap()),
            ("alignment", self._alignment()),
            ("stat names", _cross(unseen > 0, self._columns(lambda name: name == "POSIX_STATS"))),
            ("in-kernel copies", _cross(copies, positions)),
            ("earlier sessions", _cross(self.carried, self._columns(lambda name: "RW_SWITCHES" in name))),
            ("preloaded", _cross(np.full(len(self.rows), self.verification.foreign), everything)),
            ("unseen calls", _cross((unseen > 0) & ~only_stats, everything)),
            ("under way", _cross(self._under_way(), everything)),
        ]

    def _columns(self, wanted: Any) -> Array:
        return np.array([wanted(name) for name in self.names.tolist()])

    def _own(self, name: str) -> Array:
        return _column(self.batch, name, self.rows)

    def _value(self, side: int, name: str) -> Array:
        found = np.flatnonzero(self.names == name)
        return self.values[side][:, found[0]] if len(found) else np.zeros(len(self.rows))

    def _lacking(self, name: str) -> Array:
        return self._value(1, name) - self._value(0, name)

    def _one_sided(self) -> Array:
        stamps = self._columns(lambda name: name.endswith("_TIMESTAMP"))
        return _both((self.values[0] != 0) != (self.values[1] != 0), stamps[np.newaxis, :])

    def _told_of_a_close(self) -> Array:
        closes = self._columns(lambda name: "_CLOSE_" in name)
        return _both(self._one_sided(), (self.values[0] != 0) & closes[np.newaxis, :])

    def _mmap(self) -> Array:
        absent = (self._value(0, "POSIX_MMAPS") == 0) & (self._value(1, "POSIX_MMAPS") > 0)
        return _cross(absent, self._columns(lambda name: name == "POSIX_MMAPS"))

    def _alignment(self) -> Array:
        differs = self._value(0, "POSIX_FILE_ALIGNMENT") != self._value(1, "POSIX_FILE_ALIGNMENT")
        return _cross(differs, self._columns(lambda name: name.startswith("POSIX_FILE_")))

    def _under_way(self) -> Array:
        ends = self._columns(lambda name: name.endswith("END_TIMESTAMP"))
        last = np.maximum(*(side[:, ends].max(axis=1, initial=0) for side in self.values))
        late: Array = last > self.verification.duration_s - UNDER_WAY_S
        return late


def _both(left: Array, right: Array) -> Array:
    both: Array = left & right
    return both


def _cross(rows: Array, columns: Array) -> Array:
    crossed: Array = rows[:, np.newaxis] & columns[np.newaxis, :]
    return crossed


def _column(batch: FileBatch, name: str, rows: Array) -> Array:
    place = next(i for i, counter in enumerate(_bridge.counters()) if counter.name == name)
    values: Array = batch.counters[place][rows]
    return values


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def sentence(result: dict[str, Any]) -> str:
    """Says the outcome in one sentence."""
    agreement = f"darshan and builtin agree on {result['counters']} counters of {result['files']:,} files"
    kinds = [f"{entry['kind']} ({entry['rows']:,})" for entry in result["differences"]]
    return f"{agreement}; differences: {', '.join(kinds)}" if kinds else agreement
