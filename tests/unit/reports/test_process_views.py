"""Processes in views: named by role, grouped by role, and picked alone or by role."""

import importlib
from dataclasses import replace

import pytest

from tests.made_up_session import HOST
from tests.role_session import role_session
from tfdarshan.errors import SessionDataError
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.process_choice import IDLE_HELPERS, process_choices
from tfdarshan.reports.views.redaction import Redaction
from tfdarshan.reports.views.timeline_view import Window, groupings, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.sessions.session_data import SessionData


@pytest.fixture
def session(tmp_path):
    return role_session(tmp_path)


@pytest.fixture
def ranks(session):
    """The same processes as two ranks': of rank 0 the main one and a worker, of rank 12 all others."""
    of_rank = [0, 0, *[12] * 5]
    processes = [replace(one, rank=rank) for one, rank in zip(session.processes, of_rank, strict=True)]
    return SessionData(session.path, processes, [])


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


@pytest.mark.parametrize("key", ["slowest", "most-read"])
def test_rows_of_one_file_name_their_processes(session, key):
    def firsts(source):
        (table,) = [panel for panel in overview_view(source) if getattr(panel, "key", "") == key]
        return {row[0].text for row in table.rows}

    # GIVEN a file that five processes read
    # THEN each has its row, and says whose it is; of a process alone there is nothing to say
    of_all = firsts(Source(session))
    assert {f"/data/a ({one})" for one in ("main", "worker 1", "worker 2", "secret.py", "manager")} <= of_all
    assert firsts(Source(session, f"{HOST}:101")) == {"/data/a"}


def test_a_report_to_be_shown_has_no_names_of_scripts_and_hosts(session):
    source = Source(session, redaction=Redaction("key"))
    panels = str([overview_view(source), timeline_view(source)])
    assert "program (103)/main" in panels
    assert "secret" not in panels
    assert f"{HOST}:" not in panels


def test_rows_are_ranks_with_all_their_processes(ranks, monkeypatch):
    # THEN no byte is left out, neither of the whole nor of a window
    by_rank = {f"rank 0 ({HOST})": 21, f"rank 12 ({HOST})": 7_654_300}
    assert in_proportion(moved(Source(ranks), "rank")) == by_rank
    module = importlib.import_module("tfdarshan.reports.views.timeline_view")
    monkeypatch.setattr(module, "MOST_SINGLE_CALLS", 0)
    assert in_proportion(moved(Source(ranks), "rank", (0, 10_000))) == by_rank
    # ... which they are unless one chooses, where there are several
    assert timeline_view(Source(ranks))[0].title == "By rank: bytes per second"
    assert groupings(Source(ranks, "rank:0").processes)[0] == "thread"
    assert "rank" not in groupings(Source(ranks, "rank:0").processes)


def test_a_rank_is_looked_at_alone(ranks):
    source = Source(ranks, "rank:12")
    labels = {"worker 2", "secret.py", "manager", "forkserver", "resource_tracker"}
    assert set(moved(source, "process")) == {f"rank 12, {label}" for label in labels}
    for wanted in ("rank:1", "rank:", "rank:None"):
        with pytest.raises(SessionDataError, match="has no process"):
            Source(ranks, wanted)


def test_choices_have_ranks_and_of_several_processes_each(session, ranks):
    choices = process_choices(ranks.processes, Source(ranks).named)
    ranked = [choice for choice in choices if choice["id"].startswith("rank:")]
    assert ranked == [
        {"id": "rank:0", "label": f"rank 0 ({HOST})"},
        {"id": "rank:12", "label": f"rank 12 ({HOST})"},
    ]
    assert {"id": f"{HOST}:101", "label": f"rank 0, worker 1 ({HOST}:101)"} in choices
    # WHEN each rank has one process
    two = SessionData(session.path, [replace(ranks.processes[0], rank=n) for n in (0, 1)], [])
    # THEN that is the rank
    found = process_choices(two.processes, Source(two).named)
    assert [choice["id"] for choice in found] == ["role:main", "rank:0", "rank:1"]


def test_redacted_rows_of_ranks_name_no_host(ranks):
    source = Source(ranks, redaction=Redaction("key"))
    assert set(moved(source, "rank")) == {"rank 0", "rank 12"}
    panels = str([overview_view(source), timeline_view(source, Window("process"))])
    assert "rank 12, program (103)" in panels
    assert (f"{HOST}:" in panels, f"({HOST})" in panels, "secret" in panels) == (False, False, False)
