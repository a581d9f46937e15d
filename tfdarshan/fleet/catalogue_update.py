"""Brings a catalogue up to date with what is on disk: only inputs that are new or have changed are read."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.file_name import exact_name, table_name
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.input_list import InputList
from tfdarshan.fleet.input_reading import Task, read_all
from tfdarshan.fleet.job_columns import NEWER, READ, RECORDING, UNREADABLE, VANISHED
from tfdarshan.fleet.job_row import Row
from tfdarshan.partials.serial import Runner

# What may be otherwise though no file of the input has changed.
ASKED_AGAIN = (RECORDING, UNREADABLE, NEWER)
# Rows after which a part is written: a killed run begins there.
ROWS_OF_PART = 20_000


@dataclass(frozen=True)
class Update:
    """What was done.

    Attributes:
        table: The rows of the inputs that were asked for, and of those among them that have vanished.
        inputs: How many there are on disk.
        read: How many of them were read now.
        vanished: How many were there before and are gone now, since this or an earlier time.
        notes: What is missing or was left out, a sentence each.
    """

    table: Any
    inputs: int
    read: int
    vanished: int
    notes: tuple[str, ...]


def update(
    catalogue: CatalogueFolder,
    found: InputList,
    runner: Runner,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Update:
    """Read what is new or has changed, and write it into the catalogue.

    Raises:
        StorageError: The catalogue cannot be written.
    """
    paths = {table_name(os.fsencode(path)): path for path in found.kinds}
    known = _known(catalogue.table)
    tasks = [
        Task(path, found.kinds[path], found.fingerprints[path])
        for name, path in paths.items()
        if _is_new(known.get(name), found.fingerprints[path])
    ]
    _add_read(catalogue, read_all(tasks, runner), len(tasks), progress)
    gone = [name for name in known if name not in paths and found.would_find(exact_name(name))]
    catalogue.add(_vanished(catalogue.table, [name for name in gone if known[name][1] != VANISHED]))
    catalogue.put_together()
    table = _rows_of(catalogue.table, [*paths, *gone])
    unseen = [f"{folder} cannot be looked into: {why}" for folder, why in found.unreadable.items()]
    notes = _notes([*catalogue.problems, *unseen], table)
    return Update(table, len(paths), len(tasks), len(gone), tuple(notes))


def as_it_is(catalogue: CatalogueFolder) -> Update:
    """Return all that the catalogue has, and look at no input."""
    table = catalogue.table
    gone = table["state"].to_pylist().count(VANISHED)
    return Update(table, table.num_rows - gone, 0, gone, tuple(_notes(catalogue.problems, table)))


def add_findings(
    catalogue: CatalogueFolder,
    inputs: Sequence[str],
    runner: Runner,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Look for findings in some logs of the catalogue, by the names it has them under.

    Raises:
        StorageError: The catalogue cannot be written.
    """
    chosen = _rows_of(catalogue.table, inputs).select(["input", "kind", "fingerprint"]).to_pylist()
    tasks = [Task(exact_name(row["input"]), row["kind"], row["fingerprint"], findings=True) for row in chosen]
    _add_read(catalogue, read_all(tasks, runner), len(tasks), progress)
    catalogue.put_together()


def rows_of(catalogue: CatalogueFolder, table: Any) -> Any:
    """Return the rows of the same inputs as the catalogue has them now."""
    return _rows_of(catalogue.table, table["input"])


def _is_new(known: tuple[str, str] | None, fingerprint: str) -> bool:
    return known is None or known[0] != fingerprint or known[1] in (*ASKED_AGAIN, VANISHED)


def _known(table: Any) -> dict[str, tuple[str, str]]:
    columns = (table[name].to_pylist() for name in ("input", "fingerprint", "state"))
    return {name: (fingerprint, state) for name, fingerprint, state in zip(*columns, strict=True)}


def _add_read(
    catalogue: CatalogueFolder,
    parts: Iterator[list[Row]],
    total: int,
    progress: Callable[[int, int], None],
) -> None:
    rows: list[Row] = []
    done = 0
    try:
        for part in parts:
            rows += part
            done += len(part)
            progress(done, total)
            if len(rows) >= ROWS_OF_PART:
                catalogue.add(rows)
                rows = []
    finally:
        catalogue.add(rows)  # also where somebody interrupts


def _vanished(table: Any, names: Sequence[str]) -> list[Row]:
    """Return the rows of inputs that are gone: what they said stays, and does not count."""
    now = time.strftime("%Y-%m-%d", time.gmtime())
    rows: list[Row] = _rows_of(table, names).to_pylist() if names else []
    return [
        row | {"state": VANISHED, "note": f"gone, seen so on {now}", "catalogued_ns": time.time_ns()}
        for row in rows
    ]


def _rows_of(table: Any, names: Any) -> Any:
    wanted = names if isinstance(names, (pa.ChunkedArray, pa.Array)) else pa.array(names, pa.string())
    return table.filter(pc.is_in(table["input"], wanted))


def _notes(problems: Sequence[str], table: Any) -> Iterator[str]:
    yield from problems
    states = Counter(table["state"].to_pylist())
    for state, count in sorted(states.items()):
        if state != READ:
            yield f"{count:,} of {table.num_rows:,} inputs left out: {state.replace('_', ' ')}"
