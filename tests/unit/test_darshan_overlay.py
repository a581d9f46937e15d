"""libdarshan's counters laid over the builtin fold: another batch, and neither input changes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tfdarshan.native.spool_reader import FileBatch
from tfdarshan.recording.libdarshan.darshan_overlay import darshan_overlay
from tfdarshan.recording.libdarshan.darshan_records import DarshanRecords, ModuleRecords, module_columns
from tfdarshan.sessions import schema
from tfdarshan.sessions.schema import MODULES

START_S, ZERO_S = 2_000_000_000.0, 1_999_999_990.0


def place(name):
    names = [column.name for column in schema.counter_columns()]
    return names.index(name)


def f_place(name):
    return [column.name for column in schema.f_counter_columns()].index(name)


@pytest.fixture
def batch():
    """Two files read by POSIX calls and a third by streams, each counter 1; nothing may be written to it."""
    files = np.array([2, 3, 4], np.uint32)
    counters = np.ones((len(schema.counter_columns()), 3), np.int64)
    f_counters = np.ones((len(schema.f_counter_columns()), 3))
    module = np.array([MODULES.index(name) for name in ("POSIX", "POSIX", "STDIO")], np.uint8)
    for values in (counters, f_counters):
        values.flags.writeable = False
    zeros = np.zeros(3, np.int64)
    return FileBatch(files, module, zeros, zeros, counters, f_counters)


@pytest.fixture
def records():
    """libdarshan's record of the first file: 7 reads, mmaps not counted (-1), opened at its second 11."""
    modules = {}
    for module in MODULES:
        columns, rows = module_columns(module), 1 if module == "POSIX" else 0
        counters, f_counters = (
            np.zeros((rows, len(columns.names)), np.int64),
            np.zeros((rows, len(columns.f_names))),
        )
        known = np.ones((rows, len(columns.names) + len(columns.f_names)), bool)
        if rows:
            counters[0, columns.names.index("POSIX_READS")] = 7
            counters[0, columns.names.index("POSIX_WRITES")] = 9
            known[0, columns.names.index("POSIX_WRITES")] = False
            f_counters[0, columns.f_names.index("POSIX_F_OPEN_START_TIMESTAMP")] = 11.0
        for values in (counters, f_counters, known):
            values.flags.writeable = False
        ids = np.array([50][:rows], np.uint64)
        modules[module] = ModuleRecords(
            ids, counters, f_counters, known, np.ones(rows, bool), np.zeros(rows, bool)
        )
    return DarshanRecords(modules, ZERO_S, 0, 0, False)


def test_counters_are_laid_over_and_nothing_is_changed_in_place(batch, records):
    # GIVEN a file of libdarshan's and two others
    ids = np.array([50, 51, 52], np.uint64)
    overlay = darshan_overlay(records, START_S)

    # WHEN it is laid over twice
    first, again = (overlay.laid_over(batch, ids) for _ in range(2))

    # THEN the first file has its counters, in session time, and what it does not know stays
    laid = first.batch
    assert laid.counters[place("POSIX_READS")].tolist() == [7, 1, 1]
    assert laid.counters[place("POSIX_WRITES")].tolist() == [1, 1, 1]
    assert laid.f_counters[f_place("POSIX_F_OPEN_START_TIMESTAMP")].tolist() == [1.0, 1.0, 1.0]
    assert [(part.module, part.here.tolist(), part.alone.tolist()) for part in first.parts] == [
        ("POSIX", [0], [1]),
        ("STDIO", [], [2]),
    ]
    # ... again the same, and the batch is what it was
    assert (again.batch.counters == laid.counters).all()
    assert (batch.counters == 1).all()
    assert (batch.f_counters == 1).all()


def test_an_overlay_cannot_be_changed(records):
    overlay = darshan_overlay(records, START_S)

    with pytest.raises(dataclasses.FrozenInstanceError):
        overlay.records = None  # type: ignore[misc]
