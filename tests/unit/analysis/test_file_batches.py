"""The files tables of many small processes, read together."""

import dataclasses

import pandas as pd
import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.files import file_batches
from tfdarshan.analysis.files.file_batches import file_batches as batches_of
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.file_totals import total_files
from tfdarshan.analysis.files.session_files import load_files_and_totals, load_groups_files


@pytest.fixture
def processes(tmp_path):
    """Return five processes that read different files of different sizes, one of which opened none."""
    jobs = [
        job_of(
            [(at * 10, at * 10 + 5, 7, "pread", at % files, 10 + place) for at in range(4 * files)],
            [f"/data/{place % 2}/{number}" for number in range(files)],
            [100 * (number + 1) for number in range(files)],
            pid=100 + place,
        )
        for place, files in enumerate((3, 1, 0, 7, 2))
    ]
    return write_session(tmp_path, *jobs).processes


def test_small_tables_come_together_in_order(processes):
    (batch,) = batches_of(processes, lambda name: name in ("file", "path", "pid", "POSIX_BYTES_READ"))

    assert (batch.places.tolist(), batch.counts.tolist()) == ([0, 1, 3, 4], [3, 1, 7, 2])
    assert batch.rows.column("pid").to_pylist() == [100] * 3 + [101] + [103] * 7 + [104] * 2
    moved = batch.by_process(batch.rows.column("POSIX_BYTES_READ").to_numpy())
    assert moved.tolist() == [12 * 10, 4 * 11, 28 * 13, 8 * 14]


def test_tables_together_say_what_each_says(processes, monkeypatch):
    # GIVEN what is said of tables that are handed on one by one
    together, sums = load_files_and_totals(processes, 5)
    monkeypatch.setattr(file_batches, "SMALL", 0)
    assert len(list(batches_of(processes, lambda name: name in ("file", "path")))) >= 4
    alone, expected = load_files_and_totals(processes, 5)

    # THEN
    pd.testing.assert_frame_equal(together.rows, alone.rows)
    assert [index.tolist() for index in together.index] == [index.tolist() for index in alone.index]
    assert dataclasses.replace(sums, read_s=0.0, write_s=0.0, meta_s=0.0) == dataclasses.replace(
        expected, read_s=0.0, write_s=0.0, meta_s=0.0
    )
    assert (sums.read_s, sums.meta_s) == pytest.approx((expected.read_s, expected.meta_s))
    assert sums.moved[3] == (28 * 13, 0)


@pytest.mark.parametrize("first", [1, 2, 4])
def test_what_groups_say_in_one_look_is_what_each_look_says(processes, first):
    # GIVEN
    groups = [processes[:first], processes[first:]]

    # WHEN
    found = load_groups_files(groups, 5, with_table=True)

    # THEN
    table, totals = load_files_and_totals(groups[0], 5)
    pd.testing.assert_frame_equal(found.first[0].rows, table.rows)
    assert [index.tolist() for index in found.first[0].index] == [index.tolist() for index in table.index]
    assert found.first[1] == totals
    whole = load_files(processes)
    pd.testing.assert_frame_equal(found.table.rows, whole.rows)
    assert [index.tolist() for index in found.table.index] == [index.tolist() for index in whole.index]
    for group, of_one in enumerate(groups):
        rows, alone = found.grouped.rows_of(group), load_files(of_one).rows
        paths = found.grouped.paths.take(found.grouped.path[rows]).to_pylist()
        moved = found.grouped.columns["bytes_read"][rows].tolist()
        expected = zip(alone["path"][1:], alone["bytes_read"][1:], strict=True)
        assert dict(zip(paths, moved, strict=True)) == dict(expected)
    assert found.totals.moved == total_files(processes, 5).moved
    assert found.totals.sums == total_files(processes, 5).sums


def test_no_batch_has_rows_of_both_where_they_are_to_be_apart(processes):
    batches = batches_of(processes, lambda name: name in ("file", "path"), apart=2)

    assert [batch.places.tolist() for batch in batches] == [[0, 1], [3, 4]]
