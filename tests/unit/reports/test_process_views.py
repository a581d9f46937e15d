"""Processes in views: named by role, grouped by role, and picked alone or by role."""

import importlib

import pytest

from tests.made_up_session import HOST, job_of, write_session
from tfdarshan.errors import SessionDataError
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.process_choice import IDLE_HELPERS, process_choices
from tfdarshan.reports.views.redaction import Redaction
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

MODULE = "/usr/lib/python3.12/multiprocessing/resource_tracker.py"
# Bytes that each process reads: the main one, two workers, a program, a helper of data and two of modules.
ROLES = [
    ("main", 0, "", 1),
    ("worker", 1, "", 20),
    ("worker", 2, "", 300),
    ("program", 0, "secret.py", 4_000),
    ("helper", 0, "manager", 50_000),
    ("helper", 0, "forkserver", 600_000),
    ("helper", 0, "resource_tracker", 7_000_000),
]
IDLE = ("forkserver", "resource_tracker")


@pytest.fixture
def session(tmp_path):
    jobs = []
    for place, (kind, number, name, length) in enumerate(ROLES):
        pid = 100 + place
        role = {"kind": kind, "number": number, "name": name}
        path = MODULE if name in IDLE else "/data/a"
        calls = [(place * 1000, place * 1000 + 500, pid, "pread", 0, length, 0)]
        jobs.append(job_of(calls, [path], [length], pid=pid, duration_ns=10_000, meta={"role": role}))
    return write_session(tmp_path, *jobs)


def moved(source, by, window_ns=None):
    """The bytes of each row of the timeline, whole or in a window."""
    found = {}
    (heat,) = timeline_view(source, Window(by, "bandwidth", window_ns))[0].figure["data"]
    for name, values in zip(heat["y"], heat["z"], strict=True):
        found[name] = sum(value or 0 for value in values)
    return found


def in_proportion(rows):
    """Rates as bytes: the whole session's 7,654,321 are spread over equal parts of time."""
    whole = sum(rows.values())
    return {name: round(value / whole * 7_654_321) for name, value in rows.items()}


NAMED = {
    "main": 1,
    "worker 1": 20,
    "worker 2": 300,
    "secret.py": 4_000,
    "manager": 50_000,
    IDLE_HELPERS: 7_600_000,
}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("process", NAMED),
        ("role", {"main": 1, "workers": 320, "programs": 4_000, "helpers": 7_650_000}),
        (
            "thread",
            {name if name == IDLE_HELPERS else f"{name}/main": value for name, value in NAMED.items()},
        ),
    ],
)
def test_rows_are_named_and_grouped_by_role(session, by, expected):
    # THEN no byte is left out, also of helpers that share a row
    assert in_proportion(moved(Source(session), by)) == expected


def test_a_window_has_the_rows_of_the_whole(session, monkeypatch):
    module = importlib.import_module("tfdarshan.reports.views.timeline_view")
    monkeypatch.setattr(module, "MOST_SINGLE_CALLS", 0)
    for by in ("process", "role", "thread"):
        near = moved(Source(session), by, (0, 10_000))
        assert in_proportion(near) == in_proportion(moved(Source(session), by))


def test_single_calls_are_named_like_the_rows(session):
    (bars, *_) = timeline_view(Source(session), Window(window_ns=(0, 10_000)))
    names = {name for trace in bars.figure["data"] for name in trace["y"]}
    assert names == {name if name == IDLE_HELPERS else f"{name}/main" for name in NAMED}


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        ("role:worker", {"worker 1", "worker 2"}),
        ("role:helper", {"manager", "forkserver", "resource_tracker"}),
        ("role:program", {"secret.py"}),
        (f"{HOST}:101", {"worker 1"}),
        (f"{HOST}:106", {"resource_tracker"}),
    ],
)
def test_a_role_or_a_process_is_looked_at_alone(session, wanted, rows):
    source = Source(session, wanted)
    assert set(moved(source, "process")) == rows
    assert source.summary.processes == len(rows)


@pytest.mark.parametrize("wanted", ["role:boss", "role:", "made-up:7", ""])
def test_what_no_process_is_called_is_said(session, wanted):
    with pytest.raises(SessionDataError, match="has no process"):
        Source(session, wanted)


def test_choices_are_roles_and_those_that_are_listed(session):
    source = Source(session)
    choices = process_choices(session.processes, source.named)
    assert [(choice["id"], choice["label"]) for choice in choices] == [
        ("role:worker", "all workers (2)"),
        ("role:helper", "all helpers (3)"),
        (f"{HOST}:100", f"main ({HOST}:100)"),
        (f"{HOST}:101", f"worker 1 ({HOST}:101)"),
        (f"{HOST}:102", f"worker 2 ({HOST}:102)"),
        (f"{HOST}:103", f"secret.py ({HOST}:103)"),
        (f"{HOST}:104", f"manager ({HOST}:104)"),
    ]
    for choice in choices:
        Source(session, choice["id"])


def test_the_overview_lists_the_processes_by_role(session):
    def tables(source):
        return [panel for panel in overview_view(source) if getattr(panel, "key", "") == "processes"]

    (table,) = tables(Source(session))
    assert [row[0].text for row in table.rows] == ["main", "worker 1", "worker 2", "secret.py", "manager"]
    assert table.title == "Processes: main, 2 workers, 1 program, 1 helper, 2 helpers that read no data"
    assert table.note == "not listed: 2 helpers that read no data"
    assert tables(Source(session, f"{HOST}:101")) == []


def test_a_report_to_be_shown_has_no_names_of_scripts_and_hosts(session):
    source = Source(session, redaction=Redaction("key"))
    panels = str([overview_view(source), timeline_view(source)])
    assert "program (103)/main" in panels
    assert "secret" not in panels
    assert f"{HOST}:" not in panels
