"""Processes that share their files: the same figures as from files of their own, and what damage costs."""

import json
import shutil
from dataclasses import asdict, replace

import pytest

import tfdarshan
from tests.made_up_session import image_job, job_of, write_session
from tfdarshan.analysis.calls.segments import COLUMNS, load_segments
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.time.activity import activity_of_overview
from tfdarshan.analysis.time.latency import latency_by_windows
from tfdarshan.errors import SessionDataError
from tfdarshan.findings.diagnosis import summary_and_diagnosis
from tfdarshan.sessions import schema
from tfdarshan.sessions.gathered_processes import LIST, TABLES

SMALL = (
    job_of([], [], [], pid=150),
    *(replace(image_job(3 + n % 4, 2, 2, seed=n), pid=200 + n) for n in range(18)),
)
OWNER = image_job(50, 2, 4)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A session of one large process and 19 small ones, of which one has no call."""
    return write_session(tmp_path_factory.mktemp("logs"), OWNER, gathered=SMALL).path


@pytest.fixture
def folder(written, tmp_path):
    """A copy of it that a test may change."""
    return shutil.copytree(written, tmp_path / "logs" / "plugins" / "tfdarshan" / written.name)


NEWER = schema.SCHEMA_VERSION + 1


def all_of(folder):
    """Return what is said of a session."""
    session = tfdarshan.open_session(folder)
    files = load_files(session.processes)
    segments = load_segments(session.processes, files.index)
    shown = activity_of_overview(session.processes, most=100, named=lambda of: f"{of.pid}/{of.label}")
    return (
        *map(repr, summary_and_diagnosis(session, 5)),
        files.rows.to_csv(),
        session.files.to_csv(),
        session.events.to_csv(),
        *(getattr(segments, name).tobytes() for name in COLUMNS),
        latency_by_windows(session.processes).to_csv(),
        asdict(measure_wall_clock(session.processes)),
        shown.names,
        *(part.tobytes() for part in (shown.calls, shown.bytes_moved, shown.busy_ns)),
    )


def test_figures_are_those_of_files_of_their_own(tmp_path):
    # GIVEN
    apart = write_session(tmp_path, OWNER, *SMALL).path
    assert len(list(apart.iterdir())) == 4 * 20
    expected = all_of(apart)
    shutil.rmtree(apart)

    # WHEN
    together = write_session(tmp_path, OWNER, gathered=SMALL).path

    # THEN
    assert len(list(together.iterdir())) == 4 + 3
    assert all_of(together) == expected


def test_a_process_lies_in_several_row_groups_or_in_one(tmp_path, monkeypatch):
    # GIVEN
    expected = all_of(write_session(tmp_path / "one", OWNER, gathered=SMALL).path)

    # WHEN
    monkeypatch.setattr("tfdarshan.sessions.writing.shared_tables.FILES_AT_A_TIME", 5)
    monkeypatch.setattr("tfdarshan.sessions.writing.shared_tables.EVENTS_AT_A_TIME", 7)
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 4)
    many = write_session(tmp_path / "many", OWNER, gathered=SMALL).path

    # THEN
    assert all_of(many)[2:] == expected[2:]


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_damaged_table_costs_those_who_share_it(folder, table):
    # GIVEN
    path = folder / TABLES[table]
    path.write_bytes(path.read_bytes()[:-20])

    # WHEN
    with pytest.raises(SessionDataError, match=rf"{path.name} is damaged .*--skip-damaged"):
        all_of(folder)
    session = tfdarshan.open_session(folder, skip_damaged=True)

    # THEN
    assert [process.pid for process in session.processes] == [OWNER.pid]
    assert [problem for problem in session.problems if path.name not in problem] == []
    assert len(session.problems) == 1


def changed(folder, change):
    lines = [json.loads(line) for line in (folder / LIST).read_text().splitlines()]
    (folder / LIST).write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


def newer(lines):
    lines[0]["shared"]["schema_version"] = NEWER
    return lines


def elsewhere(lines):
    lines[1]["tables"]["files"]["file"] = f"../{TABLES['files']}"
    return lines


def unknown_line(lines):
    lines[1]["of"] = 1
    return lines


def fewer(lines):
    return lines[:-1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (newer, f"has schema version {NEWER} and this tfdarshan reads up to {schema.SCHEMA_VERSION}"),
        (elsewhere, "is damaged: it names tables outside of its folder"),
        (unknown_line, "is damaged: as a session's metadata, a process names no line of shared entries"),
        (fewer, "has 18 of 19 processes: copy the session again"),
        (lambda lines: lines[:1], "has 0 of 19 processes: copy the session again"),
    ],
)
def test_what_is_wrong_with_the_list_is_said(folder, change, said):
    changed(folder, change)
    with pytest.raises(SessionDataError, match=f"{LIST} {said}"):
        tfdarshan.open_session(folder)
    assert len(tfdarshan.open_session(folder, skip_damaged=True).processes) == 1


def test_rows_that_are_not_there_are_damage(folder):
    def beyond(lines):
        lines[-1]["tables"]["files"]["rows"] += 1
        return lines

    changed(folder, beyond)
    with pytest.raises(SessionDataError, match=rf"{TABLES['files']} is damaged \(it has \d+ rows"):
        load_files(tfdarshan.open_session(folder).processes)
    assert len(tfdarshan.open_session(folder, skip_damaged=True).processes) == 19


def test_a_list_that_is_missing_is_said(folder):
    (folder / LIST).unlink()
    with pytest.raises(SessionDataError, match=f"{LIST} has 0 of 19 processes"):
        tfdarshan.open_session(folder)
