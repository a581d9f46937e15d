"""The tables of many small processes, put together: the same figures from fewer files, or none of them."""

import json
import os
import shutil
from dataclasses import asdict, replace

import numpy as np
import pytest

import tfdarshan
from tests.made_up_session import image_job, job_of, write_session
from tfdarshan.analysis.activity import overview_bins
from tfdarshan.analysis.call_answers import call_answers
from tfdarshan.analysis.file_table import load_files
from tfdarshan.analysis.segments import COLUMNS, load_segments
from tfdarshan.errors import SessionDataError
from tfdarshan.findings.diagnosis import summary_and_diagnosis
from tfdarshan.recording.writing import gathering
from tfdarshan.sessions import event_groups, opened_table, process_data
from tfdarshan.sessions.gathered_tables import LIST, gathered_tables

PROCESSES = 20


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A session of one large process and 19 small ones, of which one has no call and one many files."""
    small = [replace(image_job(3 + n % 4, 2, 2, seed=n), pid=200 + n) for n in range(PROCESSES - 3)]
    silent = job_of([], [], [], pid=150)
    many = replace(image_job(gathering.MOST_ROWS["files"] + 1, 1, 2), pid=160)
    return write_session(tmp_path_factory.mktemp("logs"), image_job(50, 2, 4), silent, many, *small).path


@pytest.fixture
def folder(written, tmp_path):
    """A copy of it that a test may change, with its times."""
    return shutil.copytree(written, tmp_path / "logs" / "plugins" / "tfdarshan" / written.name)


def all_of(folder):
    """Gives what is said of a session."""
    session = tfdarshan.open_session(folder)
    files = load_files(session.processes)
    segments = load_segments(session.processes, files.index)
    answers = call_answers(session.processes, overview_bins(session.processes, 16))
    return (
        *map(repr, summary_and_diagnosis(session, 5)),
        files.rows.to_csv(),
        *(getattr(segments, name).tobytes() for name in COLUMNS),
        *(table.to_csv() for table in (answers.by_thread, answers.by_directory, answers.latency)),
        asdict(answers.clock),
    )


def from_its_own_tables(folder):
    """Gives the same of its processes' own tables."""
    kept = (folder / LIST).rename(folder / "aside")
    found = all_of(folder)
    kept.rename(folder / LIST)
    return found


def opened(folder, monkeypatch):
    """Gives the names of the tables that are opened for a summary."""
    names = []
    original = opened_table.opened_table

    def noted(path, metadata=None):
        names.append(path.name)
        return original(path, metadata)

    for reader in (process_data, event_groups):
        monkeypatch.setattr(reader, "opened_table", noted)
    summary_and_diagnosis(tfdarshan.open_session(folder), 5)
    return set(names)


def test_figures_are_the_same_from_fewer_files(folder, monkeypatch):
    # GIVEN
    expected = from_its_own_tables(folder)

    # WHEN
    found = all_of(folder)

    # THEN
    assert found == expected
    names = opened(folder, monkeypatch)
    large = {f"made-up.{pid}.{table}.parquet" for pid in (100, 160) for table in ("files", "events")}
    assert names == large - {"made-up.160.events.parquet"}


def test_it_takes_little_of_a_disk(folder):
    kept = sum(path.stat().st_size for path in folder.glob("gathered*"))
    own = sum(path.stat().st_size for path in folder.glob("made-up.2??.*.parquet"))
    assert kept < own / 5


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def without_list(folder):
    (folder / LIST).write_text("{")


def cut_files(folder):
    cut(folder / "gathered-files.parquet")


def garbled_events(folder):
    """Gives the file other content of the same length and time."""
    path = folder / "gathered-events.parquet"
    found, times = path.read_bytes(), path.stat()
    path.write_bytes(found[:4] + bytes(len(found) - 8) + found[-4:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def other_version(folder):
    content = json.loads((folder / LIST).read_text())
    assert content["version"] == 1
    (folder / LIST).write_text(json.dumps(content | {"version": 2}))


def other_places(folder):
    content = json.loads((folder / LIST).read_text())
    for table in content["tables"].values():
        table["file"] = f"../{folder.name}/{table['file']}"
    (folder / LIST).write_text(json.dumps(content))


@pytest.mark.parametrize("damage", [without_list, cut_files, garbled_events, other_version, other_places])
def test_what_is_damaged_or_of_another_version_is_not_used(folder, monkeypatch, damage):
    # GIVEN
    expected = from_its_own_tables(folder)

    # WHEN
    damage(folder)

    # THEN
    assert all_of(folder) == expected
    assert any(name.startswith("made-up.2") for name in opened(folder, monkeypatch))


def test_tables_that_are_newer_are_read_themselves(folder):
    # GIVEN a process's table that was replaced by another's
    mine, other = (folder / f"made-up.{pid}.events.parquet" for pid in (203, 207))
    mine.write_bytes(other.read_bytes())

    # THEN
    assert mine.name not in gathered_tables(folder)["events"]._parts
    assert all_of(folder) == from_its_own_tables(folder)


@pytest.mark.parametrize("table", ["files", "events"])
def test_a_missing_table_is_still_missing(folder, table):
    (folder / f"made-up.205.{table}.parquet").unlink()
    with pytest.raises(SessionDataError, match=rf"made-up.205.{table}.parquet is missing"):
        all_of(folder)


def test_few_processes_are_left_as_they_are(tmp_path):
    jobs = [replace(image_job(3, 1, 1), pid=100 + n) for n in range(gathering.LEAST_PROCESSES)]
    session = write_session(tmp_path, *jobs)
    assert not list(session.path.glob("gathered*"))
    assert len(session.processes) == gathering.LEAST_PROCESSES


def test_no_more_than_a_bound_waits_in_memory(tmp_path, monkeypatch):
    # GIVEN room for some processes
    monkeypatch.setattr(gathering, "MOST_BYTES", 40_000)
    jobs = [replace(image_job(3, 1, 1, seed=n), pid=100 + n) for n in range(40)]

    # WHEN
    session = write_session(tmp_path, *jobs)

    # THEN
    assert 0 < len(gathered_tables(session.path)["files"]._parts) < 39
    assert all_of(session.path) == from_its_own_tables(session.path)


def test_a_full_disk_costs_no_session(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gathering.Gathering, "_write", full)
    jobs = [replace(image_job(3, 1, 1, seed=n), pid=100 + n) for n in range(20)]
    session = write_session(tmp_path, *jobs)
    assert not (session.path / LIST).exists()
    assert np.sum(session.files["POSIX_OPENS"]) == 60
