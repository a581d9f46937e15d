"""The end of a large events table is read once for all of its parts, and anew where it is another table."""

import os
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.calls.call_unions import CallUnions
from tfdarshan.analysis.calls.time_windows import time_windows
from tfdarshan.errors import SessionDataError
from tfdarshan.partials.serial import SERIAL, gather
from tfdarshan.sessions import event_groups, schema
from tfdarshan.sessions.known_footers import KnownFooters

CALLS = 1_000


@pytest.fixture
def footers(monkeypatch):
    """Have tables of any size count as large; list the footers that are read."""
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 64)
    monkeypatch.setattr(event_groups, "LARGE_TABLE_BYTES", 0)
    monkeypatch.setattr(event_groups, "FOOTERS", KnownFooters())
    read = []
    begin = pq.ParquetFile.__init__

    def counted(file, *arguments, metadata=None, **more):
        if metadata is None:
            read.append(arguments)
        begin(file, *arguments, metadata=metadata, **more)

    monkeypatch.setattr(pq.ParquetFile, "__init__", counted)
    return read


def session(folder, lasted=5):
    calls = [(at * 10, at * 10 + lasted, 1, "pread", 0, 100) for at in range(CALLS)]
    return write_session(folder, job_of(calls, ["/data/0"], [100]))


def union_ns(processes):
    windows = time_windows(processes, 100)
    assert len(windows) >= CALLS // 100
    return gather(CallUnions(), windows, SERIAL).partial.together_ns[0]


def test_a_large_table_s_end_is_read_once(tmp_path, footers, monkeypatch):
    processes = session(tmp_path).processes

    assert union_ns(processes) == 5 * CALLS

    assert len(footers) == 1
    monkeypatch.setattr(event_groups, "LARGE_TABLE_BYTES", 1 << 62)
    assert union_ns(processes) == 5 * CALLS
    assert len(footers) > CALLS // 100


def test_another_table_of_the_same_name_and_size_is_read_anew(tmp_path, footers):
    # GIVEN
    processes = session(tmp_path / "one").processes
    other = session(tmp_path / "other", lasted=7).processes[0].table_path("events")
    path = processes[0].table_path("events")
    assert union_ns(processes) == 5 * CALLS

    # WHEN
    os.replace(other, path)

    # THEN
    assert union_ns(processes) == 7 * CALLS
    assert len(footers) == 2


def test_a_table_that_is_removed_is_missing(tmp_path, footers):
    processes = session(tmp_path).processes
    windows = time_windows(processes, 100)
    processes[0].table_path("events").unlink()

    with pytest.raises(SessionDataError, match="is missing"):
        gather(CallUnions(), windows, SERIAL)


def test_no_more_row_groups_are_kept_than_are_to_be(tmp_path):
    # GIVEN room for 10 row groups
    kept, read = KnownFooters(most=10), []

    def get(name, groups):
        path = tmp_path / name
        if not path.exists():
            path.touch()

        def read_now():
            read.append(name)
            return SimpleNamespace(num_row_groups=groups), name

        return kept.get(path, read_now)[1]

    # WHEN
    found = [get(name, 4) for name in "abacab"]

    # THEN the one that was asked for longest ago went
    assert (found, read, kept.groups) == (list("abacab"), ["a", "b", "c", "b"], 8)
    assert (get("large", 100), get("large", 100), kept.groups) == ("large", "large", 100)
    assert read[4:] == ["large"]
