"""The tab's routes, asked directly: what they answer, and what they refuse."""

import calendar
import dataclasses
import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pytest.importorskip("tensorboard")

from werkzeug.test import Client

from tests.made_up_session import image_job, job_of, write_job, write_session
from tests.unit.findings.made_up_training import training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.views import VIEWS, view_source
from tfdarshan.session import open_session
from tfdarshan.sessions import process_data
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.tensorboard_plugin import findings_of, routes, session_store
from tfdarshan.tensorboard_plugin.logdirs import Logdir
from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin
from tfdarshan.tensorboard_plugin.routes import Routes
from tfdarshan.tensorboard_plugin.session_store import MOST_CALLS_KEPT, SessionStore, UnknownSession

STAMP = "2024_01_01_00_00_00"
SESSION = f"run/{STAMP}"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Verdicts are kept in the user's cache folder: each test has its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def logdir(tmp_path):
    write_session(tmp_path / "logs" / "run", image_job(50, 2, 3), stamp=STAMP)
    return tmp_path / "logs"


def ask(logdir, route, **arguments):
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir)))
    response = Client(plugin.get_plugin_apps()[route]).get(route, query_string=arguments)
    return response.status_code, json.loads(response.data)


def table(answer):
    return [[cell["text"] for cell in row] for row in answer["panels"][-1]["rows"]]


def test_sessions_are_listed_by_run(logdir):
    assert ask(logdir, "/sessions")[1]["sessions"] == [
        {"id": SESSION, "run": "run", "name": STAMP, "state": "complete"}
    ]


def test_the_plugin_is_active_only_where_there_are_sessions(logdir, tmp_path):
    assert TfdarshanPlugin(SimpleNamespace(logdir=str(logdir))).is_active()
    assert not TfdarshanPlugin(SimpleNamespace(logdir=str(tmp_path / "none"))).is_active()
    assert not TfdarshanPlugin(SimpleNamespace(logdir="gs://bucket/logs")).is_active()


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_answers(logdir, view):
    code, answer = ask(logdir, "/view", session=SESSION, view=view)

    assert (code, answer["state"], answer["processes"]) == (
        200,
        "complete",
        [{"id": "made-up:100", "label": "main (made-up:100)"}],
    )
    assert answer["panels"]


@pytest.mark.parametrize("by", ["thread", "process", "role", "directory", "operation"])
@pytest.mark.parametrize("measure", ["bandwidth", "operations", "busy", "depth"])
def test_the_timeline_by_all_and_of_all(logdir, by, measure):
    _, whole = ask(logdir, "/view", session=SESSION, view="timeline", by=by, measure=measure)
    _, part = ask(
        logdir, "/view", session=SESSION, view="timeline", by=by, measure=measure, start_ns=0, end_ns=10**6
    )

    assert whole["panels"][0]["figure"]["data"][0]["type"] == "heatmap"
    assert part["panels"][0]["figure"]["data"][0]["type"] == "bar"


@pytest.mark.parametrize("most", [MOST_CALLS_KEPT, 0])
def test_findings_are_those_of_the_session_wherever_they_are_worked_out(logdir, monkeypatch, most):
    # GIVEN a session, and whether it is so large that a process of its own looks at it
    monkeypatch.setattr(findings_of, "MOST_CALLS_KEPT", most)

    # WHEN
    code, answer = ask(logdir, "/findings", session=SESSION)

    # THEN
    expected = diagnose(open_session(logdir / "run"))
    verdict, *rest = answer["panels"]
    sentence = expected.verdict.why or expected.verdict.sentence
    assert (code, verdict["kind"], verdict["sentence"]) == (200, "verdict", sentence)
    cards = [card["name"] for panel in rest if panel["kind"] == "cards" for card in panel["items"]]
    cards += [verdict["card"]["name"]] if verdict["card"] else []
    assert {*cards, "input_bound"} == {"input_bound", *(finding.name for finding in expected.findings)}


def test_every_view_of_an_emulated_session_says_so(logdir):
    # GIVEN a session whose metadata say that storage was emulated
    (path,) = (logdir / "run" / "plugins" / "tfdarshan" / STAMP).glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["options"] = {"as_if": "lustre", "as_if_paths": ["/data/*"]}
    path.write_text(json.dumps(meta))

    # WHEN
    views = [ask(logdir, "/view", session=SESSION, view=view)[1] for view in VIEWS]
    file = ask(logdir, "/file", session=SESSION, path="/data/train/class-07/0000007.jpg")[1]
    compared = ask(logdir, "/compare", session=SESSION, other=SESSION)[1]

    # THEN
    said = ("Emulated storage, as if lustre, for /data/*", ["Times are simulated, not this storage's."])
    banners = [[(panel["title"], panel["lines"]) for panel in answer["banner"]] for answer in (*views, file)]
    assert banners == [[said]] * (len(VIEWS) + 1)
    assert [panel["title"] for panel in compared["banner"]] == [f"{said[0]} in both"]


def record_command(logdir, stamp, command):
    """Record a job of a command at the time of its stamp; return the session's id."""
    session = write_session(logdir, image_job(2, 1, 1), stamp=stamp)
    for file in session.path.glob("*.meta.json"):
        began_ns = calendar.timegm(time.strptime(stamp, "%Y_%m_%d_%H_%M_%S")) * 10**9
        meta = json.loads(file.read_text()) | {"command": command, "origin_realtime_ns": began_ns}
        file.write_text(json.dumps(meta))
    return f"./{stamp}"


def test_a_session_is_compared_with_the_nearest_of_its_command(tmp_path):
    # GIVEN two runs of a training that differ in an option, another program between them, and a later run
    before = record_command(tmp_path, "2024_01_01_00_00_00", "/opt/bin/python train.py --workers 1")
    record_command(tmp_path, "2024_01_02_00_00_00", "python evaluate.py")
    after = record_command(tmp_path, "2024_01_03_00_00_00", "python train.py --workers 8")
    record_command(tmp_path, "2024_01_03_00_01_00", "python train.py --workers 8 --epochs 2")

    # WHEN nobody says with what
    code, answer = ask(tmp_path, "/compare", other=before)
    later = ask(tmp_path, "/compare", other="./2024_01_02_00_00_00")[1]

    # THEN it is the training's next run, though the other program's is nearer
    assert (code, answer["session"]) == (200, after)
    # ... and what has no run of its own command starts with the one before it
    assert later["session"] == before


def test_views_without_content_are_named(logdir, tmp_path):
    # GIVEN a job that reads and saves nothing, and one without a call
    write_session(tmp_path / "none", job_of([], [], []), stamp=STAMP)

    # WHEN
    empty = [ask(at, "/view", session=name, view="overview")[1]["empty"]
             for at, name in ((logdir, SESSION), (tmp_path / "none", f"./{STAMP}"))]  # fmt: skip

    # THEN
    assert empty == [["checkpoints"], ["patterns", "checkpoints"]]


def test_the_list_has_commands_as_they_are_typed(tmp_path):
    record_command(tmp_path, STAMP, "/opt/venv/bin/python train.py")

    ((row,),) = ask(tmp_path, "/verdicts")[1]["groups"]

    assert (row["job"], row["command"]) == ("python train.py", "/opt/venv/bin/python train.py")


def test_files_by_part_of_a_path_and_by_pattern(logdir):
    _, parts = ask(logdir, "/files", session=SESSION, search="class-07/", sort="path", order="ascending")
    _, pattern = ask(logdir, "/files", session=SESSION, search="*/class-0?/*[.jpg")
    _, second = ask(logdir, "/files", session=SESSION, sort="path", order="ascending", offset=40, limit=20)

    assert [row[0] for row in table(parts)] == ["/data/train/class-07/0000007.jpg"]
    assert (parts["matching"], pattern["matching"], second["matching"]) == (1, 0, 50)
    assert [row[0][-6:] for row in table(second)] == [f"{number:02}.jpg" for number in range(40, 50)]


@pytest.mark.parametrize("sort", ["time_s", "bytes_read", "size_bytes", "path"])
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_pages_put_together_are_the_sorted_files(logdir, sort, order):
    pages = [
        table(ask(logdir, "/files", session=SESSION, sort=sort, order=order, offset=first, limit=7)[1])
        for first in range(0, 50, 7)
    ]
    whole = table(ask(logdir, "/files", session=SESSION, sort=sort, order=order, limit=50)[1])

    assert [row for page in pages for row in page] == whole
    assert len({row[0] for row in whole}) == 50


def test_a_files_page(logdir):
    code, answer = ask(logdir, "/file", session=SESSION, path="/data/train/class-07/0000007.jpg")

    assert code == 200
    offsets = next(panel for panel in answer["panels"] if panel.get("key") == "offsets")
    assert len(offsets["figure"]["data"][0]["x"]) == 2 * 3


def test_one_process_of_several(tmp_path):
    calls = [(0, 100, 1, "pread", 0, 40)]
    jobs = [job_of(calls * (1 + place), ["/a"], [40], pid=100 + place) for place in range(2)]
    write_session(tmp_path, *jobs, stamp=STAMP)

    def calls_of(process):
        answer = ask(tmp_path, "/view", session=f"./{STAMP}", process=process)[1]
        tiles = next(panel for panel in answer["panels"] if panel["kind"] == "tiles")
        return next(tile["value"]["text"] for tile in tiles["items"] if tile["label"] == "Calls")

    assert [calls_of(process) for process in ("", "made-up:100", "made-up:101")] == ["3", "1", "2"]


@pytest.mark.parametrize(
    ("route", "arguments", "code"),
    [
        ("/view", {}, 400),
        ("/findings", {}, 400),
        ("/findings", {"session": "../../../etc"}, 404),
        ("/view", {"session": "../../../etc"}, 404),
        ("/view", {"session": "/etc/passwd"}, 404),
        ("/view", {"session": f"run/../run/{STAMP}"}, 404),
        ("/view", {"session": "x" * 10_000}, 400),
        ("/view", {"session": "a\0b"}, 400),
        ("/view", {"session": SESSION, "view": "../plugin"}, 400),
        ("/view", {"session": SESSION, "view": "overview", "part": "half"}, 400),
        ("/view", {"session": SESSION, "view": "timeline", "by": "<script>"}, 400),
        ("/view", {"session": SESSION, "view": "timeline", "start_ns": "9" * 50, "end_ns": "1"}, 400),
        ("/view", {"session": SESSION, "view": "timeline", "start_ns": "-5", "end_ns": "1"}, 400),
        ("/view", {"session": SESSION, "view": "timeline", "start_ns": "5", "end_ns": "5"}, 400),
        ("/view", {"session": SESSION, "process": "../x"}, 422),
        ("/files", {"session": SESSION, "limit": "1000000"}, 400),
        ("/files", {"session": SESSION, "limit": "0"}, 400),
        ("/files", {"session": SESSION, "offset": "nan"}, 400),
        ("/files", {"session": SESSION, "sort": "__class__"}, 400),
        ("/steps", {"session": SESSION, "limit": "0"}, 400),
        ("/steps", {"session": SESSION, "sort": "__class__"}, 400),
        ("/file", {"session": SESSION, "path": "/etc/passwd"}, 422),
        ("/compare", {"session": SESSION, "other": "../x"}, 404),
        ("/view", {"session": SESSION, "view": "staging", "tier": "/dev/shm"}, 400),
        ("/view", {"session": SESSION, "view": "staging", "capacity": "-1"}, 400),
        ("/view", {"session": SESSION, "view": "staging", "capacity": "1e9"}, 400),
    ],
)
def test_hostile_input_is_refused_in_words(logdir, route, arguments, code):
    found, answer = ask(logdir, route, **arguments)

    assert (found, set(answer)) == (code, {"error"})
    assert answer["error"]["message"]
    assert answer["error"]["hint"]


def test_a_huge_window_and_one_after_the_end(logdir):
    for start, end in ((0, 1 << 61), (1 << 60, 1 << 61)):
        arguments = {"session": SESSION, "view": "timeline", "start_ns": start, "end_ns": end}
        code, answer = ask(logdir, "/view", **arguments)
        assert (code, answer["state"]) == (200, "complete")


def test_offsets_beyond_the_files_are_empty(logdir):
    assert table(ask(logdir, "/files", session=SESSION, offset=1 << 61)[1]) == []


def test_metadata_that_names_other_files_is_damaged(logdir):
    directory = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    (meta,) = directory.glob("*.meta.json")
    content = json.loads(meta.read_text())
    content["tables"]["files"]["file"] = "../../../../secret.parquet"
    meta.write_text(json.dumps(content))

    code, answer = ask(logdir, "/view", session=SESSION)

    assert code == 422
    assert "names tables outside of its folder" in answer["error"]["message"]


def test_links_out_of_the_logdir_are_not_followed(logdir, tmp_path):
    elsewhere = write_session(tmp_path / "other", image_job(5, 1, 1)).path
    sessions = logdir / "run" / "plugins" / "tfdarshan"
    os.symlink(elsewhere, sessions / "2020_01_01_00_00_00")
    linked = sessions / "2021_01_01_00_00_00"
    linked.mkdir()
    for file in elsewhere.iterdir():
        os.symlink(file, linked / file.name)

    assert ask(logdir, "/view", session="run/2020_01_01_00_00_00")[0] == 404
    code, answer = ask(logdir, "/view", session="run/2021_01_01_00_00_00")
    assert (code, "leads out of its session" in answer["error"]["message"]) == (422, True)


@pytest.mark.parametrize("table_name", ["files", "events", "overview"])
def test_damaged_tables_are_said(logdir, table_name):
    directory = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    (path,) = directory.glob(f"*.{table_name}.parquet")
    path.write_bytes(path.read_bytes()[:-50])

    code, answer = ask(logdir, "/view", session=SESSION, view="patterns")

    assert code == 422
    assert f"{table_name}.parquet is damaged" in answer["error"]["message"]


def test_a_ledger_with_anything_in_it_shows_the_rows_that_are_sound(logdir):
    # GIVEN lines that no burst buffer writes, and one that it does
    directory = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    lines = [
        {"event": "saved", "id": ["a"], "saved_at": 1.0},
        {"event": "saved", "id": "b", "saved_at": "yesterday"},
        {"event": "saved", "id": "c", "saved_at": 1.0, "blocked_s": float("nan")},
        {"event": "saved", "id": "d", "saved_at": 1.0, "size_bytes": 10**400},
        {"event": "saved", "id": "e", "saved_at": 1.0, "checkpoint": {"x": 1}},
        {"event": "saved", "id": "f", "saved_at": 1.0, "blocked_s": True},
        {"event": "saved", "id": "g", "saved_at": 1_700_000_000.5, "checkpoint": "<b>ckpt-7"},
    ]
    text = "\n".join([*map(json.dumps, lines), "[]", "not JSON", '{"event": "saved", "id'])
    (directory / "made-up.100.checkpoints.jsonl").write_text(text)

    # WHEN
    code, answer = ask(logdir, "/view", session=SESSION, view="checkpoints")

    # THEN
    assert code == 200
    (rows,) = (panel["rows"] for panel in answer["panels"] if panel.get("key") == "ledger-table")
    assert [[cell["text"] for cell in row][:3] for row in rows] == [["<b>ckpt-7", "-", "500.0 ms"]]


def test_a_checkpoint_that_becomes_durable_later_is_shown(logdir):
    # GIVEN a view of a session whose checkpoint is on its way
    directory = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    path = directory / "made-up.100.checkpoints.jsonl"
    path.write_text('{"event": "saved", "id": "a", "checkpoint": "ckpt-1", "saved_at": 1700000001}\n')
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir)))
    app = plugin.get_plugin_apps()["/view"]

    def outcome():
        response = Client(app).get("/view", query_string={"session": SESSION, "view": "checkpoints"})
        (table_panel,) = (p for p in response.json["panels"] if p.get("key") == "ledger-table")
        return table_panel["rows"][0][-1]["text"]

    assert outcome() == "not yet durable"

    # WHEN the job, which goes on, adds to its ledger
    with path.open("a") as file:
        file.write('{"event": "slow_durable", "id": "a", "slow_durable_at": 1700000002}\n')

    assert outcome() == "durable on both tiers"


def test_an_error_of_ours_has_a_body_and_no_inside(logdir, monkeypatch, caplog):
    from tfdarshan.tensorboard_plugin.routes import Routes

    monkeypatch.setattr(Routes, "sessions", lambda self, arguments: 1 / 0)

    code, answer = ask(logdir, "/sessions")

    assert (code, answer["error"]["message"]) == (500, "ZeroDivisionError while answering /sessions")
    caplog.clear()


def test_a_session_written_again_is_read_again(logdir):
    store = SessionStore([Logdir(logdir)])
    first, _ = store.source(SESSION, None)
    assert store.source(SESSION, None)[0] is first

    shutil.rmtree(first.whole.path)
    write_session(logdir / "run", image_job(60, 1, 3), stamp=STAMP)

    assert len(store.source(SESSION, None)[0].files) == 61


def test_a_session_that_was_removed_is_unknown(logdir):
    # GIVEN a list that still has it
    store = SessionStore([Logdir(logdir)])
    source, _ = store.source(SESSION, None)

    # WHEN
    shutil.rmtree(source.whole.path)

    # THEN
    with pytest.raises(UnknownSession, match="there is no session"):
        store.source(SESSION, None)


def test_findings_of_a_large_session_import_nothing_from_the_working_directory(logdir, tmp_path, monkeypatch):
    # GIVEN a session that is worked out in a process of its own, and a folder with a name of Python's
    monkeypatch.setattr(findings_of, "MOST_CALLS_KEPT", 0)
    (tmp_path / "queue.py").write_text("raise SystemExit('not this one')\n")
    monkeypatch.chdir(tmp_path)

    code, answer = ask(logdir, "/findings", session=SESSION)

    assert (code, answer["panels"][0]["kind"]) == (200, "verdict")


@pytest.mark.parametrize("runs", [True, False])
def test_a_session_that_ended_after_the_list_was_made_is_shown(logdir, monkeypatch, runs):
    # GIVEN a list in which it is recording, or was interrupted
    monkeypatch.setattr(session_store, "is_recording", lambda _: runs)
    directory = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    (directory / "recording.json").write_text("{}")
    asked = Routes([Logdir(logdir)])
    (before,) = asked.sessions({})["sessions"]

    # WHEN it is written, or recovered
    (directory / "recording.json").unlink()

    # THEN
    assert before["state"] == ("recording" if runs else "interrupted")
    assert asked.view({"session": SESSION})["state"] == "complete"
    assert asked.findings({"session": SESSION})["panels"]


@pytest.mark.long
def test_a_thousand_requests_at_once(logdir):
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir)))
    app = plugin.get_plugin_apps()["/files"]

    def one(number):
        query = {"session": SESSION, "search": f"class-{number % 50:02}", "limit": 5}
        response = Client(app).get("/files", query_string=query)
        return response.status_code, json.loads(response.data)["matching"]

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(one, range(1000))) == {(200, 1)}


def test_nothing_is_written_to_the_logdir(logdir):
    def content():
        return {path: path.stat().st_mtime_ns for path in logdir.rglob("*")}

    before = content()
    for view in ("overview", "timeline", "patterns"):
        ask(logdir, "/view", session=SESSION, view=view)

    assert content() == before


def test_the_loader_imports_nothing_but_base_plugin(run_python):
    program = (
        "import sys, tfdarshan.tensorboard_plugin.loader\n"
        "print([name for name in ('numpy', 'pandas', 'pyarrow', 'plotly') if name in sys.modules])"
    )
    before = run_python("-c", "import sys, tensorboard.plugins.base_plugin\n" + program.splitlines()[1])
    assert run_python("-c", program).stdout == before.stdout


def test_pages_of_steps_put_together_are_all_steps(tmp_path):
    # GIVEN 50 steps of unlike times
    steps = [(20 * n, 20 * n + 1 + n * 7 % 13, 0.5) for n in range(50)]
    session = training(tmp_path / "run", [(1, 2, 7, "pread", 0, 7)], steps)
    asked = {"session": f"run/{session.path.name}"}

    def numbers(**query):
        pages = [
            ask(tmp_path, "/steps", **asked, **query, offset=first, limit=20)[1] for first in (0, 20, 40)
        ]
        assert {page["matching"] for page in pages} == {50}
        return [int(row[0]) for page in pages for row in table(page)]

    # WHEN / THEN
    lasted = {n: 1 + n * 7 % 13 for n in range(50)}
    assert numbers() == sorted(lasted, key=lambda n: (-lasted[n], n))
    assert numbers(order="ascending") == sorted(lasted, key=lambda n: (lasted[n], n))
    assert numbers(sort="step", order="ascending") == list(range(50))
    # and the view begins with the page that is asked for
    view = ask(tmp_path, "/view", **asked, view="steps", sort="step", offset=40)[1]
    assert [int(row[0]) for row in table(view)] == list(range(9, -1, -1))


def test_the_view_of_files_has_what_the_search_finds(logdir):
    answer = ask(logdir, "/view", session=SESSION, view="files", search="class-07/")[1]

    tree = next(panel for panel in answer["panels"] if panel["key"] == "treemap")
    assert tree["figure"]["data"][0]["ids"][0] == "/data/train/class-07"
    assert [row[0] for row in table(answer)] == ["/data/train/class-07/0000007.jpg"]
    assert answer["panels"][-1]["paging"]["matching"] == 1


@pytest.mark.parametrize(("limit", "value"), [("MOST_CALLS_KEPT", 10), ("MOST_PROCESSES", 0)])
def test_the_overview_of_a_long_session_comes_in_parts(logdir, monkeypatch, limit, value):
    # GIVEN a session that counts as long, of which neither calls nor files can be read at first
    monkeypatch.setattr(routes, limit, value)
    looked_at = []
    table = ProcessData.table

    def watched(process, name, *columns):
        looked_at.append(name)
        return table(process, name, *columns)

    monkeypatch.setattr(ProcessData, "table", watched)
    view = overview_of(logdir)

    # WHEN the page asks for one part after the other
    with monkeypatch.context() as patch:
        patch.setattr(view_source, "summarize", None)
        with monkeypatch.context() as unopened:
            unopened.setattr(process_data, "opened_table", None)
            beginning = view(part="beginning")
        looked_at_first = list(looked_at)
        bandwidth = view(part="bandwidth")
    whole = view(part="all")
    again = view(part="beginning")

    # THEN the first part opens no table, the second one needs the overview's, and that once
    assert (looked_at_first, looked_at[:1], looked_at.count("overview")) == ([], ["overview"], 1)
    assert (beginning["more"], bandwidth["more"], "more" in whole) == ("bandwidth", "all", False)
    # and their figures are those of the whole view, which is known from then on
    assert again == whole
    tiles = {item["label"]: item["value"] for item in panel(whole, "tiles")["items"]}
    for part in (beginning, bandwidth):
        shown = {item["label"]: item["value"] for item in panel(part, "tiles")["items"]}
        assert shown == {label: tiles[label] for label in ("Session", "Files", "Calls")}
        assert panel(part, "text")["lines"] == ["Adding up the time and the files of 500 calls ..."]
    assert "chart" not in [one["kind"] for one in beginning["panels"]]
    assert panel(bandwidth, "chart") == panel(whole, "chart")


def test_a_long_session_begins_with_the_verdict_that_is_known(logdir, monkeypatch):
    # GIVEN a session that counts as long, at which nobody looked yet
    monkeypatch.setattr(routes, "MOST_CALLS_KEPT", 0)
    before = overview_of(logdir)(part="beginning")

    # WHEN its findings were asked for
    ask(logdir, "/findings", session=SESSION)
    after = overview_of(logdir)(part="beginning")

    # THEN
    verdict = diagnose(open_session(logdir / "run")).verdict
    assert before["verdict"] == []
    assert [(one["kind"], one["state"], one["sentence"]) for one in after["verdict"]] == [
        ("verdict", verdict.state, verdict.sentence)
    ]


def test_the_overview_of_a_short_session_is_given_at_once(logdir):
    assert overview_of(logdir)(part="beginning") == overview_of(logdir)()


@pytest.mark.parametrize("named", [{}, {"session": SESSION}])
def test_the_page_can_ask_for_the_beginning_before_it_knows_the_sessions(logdir, monkeypatch, named):
    # GIVEN a session that counts as long
    monkeypatch.setattr(routes, "MOST_CALLS_KEPT", 0)

    # WHEN
    code, answer = ask(logdir, "/beginning", **named)

    # THEN
    assert (code, answer) == (200, {"session": SESSION, "view": overview_of(logdir)(part="beginning")})


@pytest.mark.parametrize("named", ["", "run/of no session"])
def test_a_beginning_that_cannot_be_shown_is_no_error(logdir, tmp_path, named):
    where = logdir if named else tmp_path / "nothing"

    assert ask(where, "/beginning", session=named) == (200, {"session": named, "view": None})


def test_a_long_session_with_a_damaged_table_says_so_once_tables_are_read(logdir, monkeypatch):
    # GIVEN a session that counts as long, with a second process whose table of files is damaged
    monkeypatch.setattr(routes, "MOST_CALLS_KEPT", 0)
    folder = logdir / "run" / "plugins" / "tfdarshan" / STAMP
    write_job(folder, dataclasses.replace(image_job(5, 1, 1), pid=200), owner=False)
    (damaged,) = folder.glob("*.200.files.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-20])
    view = overview_of(logdir)

    # WHEN
    beginning, whole = view(part="beginning"), view(part="all")

    # THEN the beginning is what the metadata say, and the rest leaves the process out and says why
    tiles = [
        {item["label"]: item["value"]["text"] for item in panel(one, "tiles")["items"]}
        for one in (beginning, whole)
    ]
    assert [shown.get("Files") for shown in tiles] == [None, "50"]
    assert damaged.name in panel(whole, "text")["lines"][0]


def overview_of(logdir):
    """Return what asks one server for the overview."""
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir)))

    def view(**arguments):
        query = {"session": SESSION, "view": "overview", **arguments}
        response = Client(plugin.get_plugin_apps()["/view"]).get("/view", query_string=query)
        assert response.status_code == 200, response.data
        return json.loads(response.data)

    return view


def panel(answer, kind):
    return next(one for one in answer["panels"] if one["kind"] == kind)


def in_flags(specification):
    return SimpleNamespace(logdir="", flags=SimpleNamespace(logdir_spec=specification))


def listed_ids(context):
    plugin = TfdarshanPlugin(context)
    assert plugin.is_active()
    answer = Client(plugin.get_plugin_apps()["/sessions"]).get("/sessions").json
    return sorted(one["id"] for one in answer["sessions"]), answer


def test_a_logdir_is_resolved_as_tensorboard_does(logdir, tmp_path, monkeypatch):
    # GIVEN a home, and a working directory, that have the logdir
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    for given in ("~/logs", "logs", "./x/../logs"):
        # WHEN
        ids, answer = listed_ids(SimpleNamespace(logdir=given))

        # THEN
        assert ids == [SESSION]
        assert f"profile({str(logdir)!r})" in answer["how_to"]


def test_several_logdirs_are_shown_with_the_names_that_they_were_given(logdir, tmp_path, monkeypatch):
    # GIVEN two folders of runs, of which each has one of the same name
    monkeypatch.setenv("HOME", str(tmp_path))
    write_session(tmp_path / "more" / "run", image_job(50, 2, 3), stamp=STAMP)
    cases = {
        f"a:{logdir},b:~/more": [f"a/run/{STAMP}", f"b/run/{STAMP}"],
        f"{logdir}/run,c:{tmp_path}/more": [f"./{STAMP}", f"c/run/{STAMP}"],
        f"{logdir},~/more": sorted([SESSION, f"{tmp_path}/more/run/{STAMP}"]),
        f"gs://bucket/x,far:s3://bucket/y,d:{logdir}": [f"d/run/{STAMP}"],
    }
    for specification, expected in cases.items():
        # WHEN / THEN
        assert listed_ids(in_flags(specification))[0] == expected

    # WHEN verdicts and a view of each are asked for
    plugin = TfdarshanPlugin(in_flags(f"a:{logdir},b:~/more"))
    apps = plugin.get_plugin_apps()
    verdicts = Client(apps["/verdicts"]).get("/verdicts", query_string={"look": "1"}).json
    assert sorted(row["id"] for group in verdicts["groups"] for row in group) == [
        f"a/run/{STAMP}",
        f"b/run/{STAMP}",
    ]
    assert Client(apps["/view"]).get("/view", query_string={"session": f"b/run/{STAMP}"}).status_code == 200


def test_links_to_runs_are_shown_and_others_are_refused_with_a_word(logdir, tmp_path):
    # GIVEN a logdir of links: to a run, to the same run again, to all of the above, and one within the run
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    write_session(tmp_path / "hidden", image_job(50, 2, 3), stamp=STAMP)
    (chosen / "good").symlink_to(logdir / "run")
    (chosen / "same").symlink_to(logdir / "run")
    (chosen / "above").symlink_to(tmp_path)
    (chosen / "round").symlink_to(chosen)
    (chosen / "gone").symlink_to(tmp_path / "nowhere")
    (logdir / "run" / "out").symlink_to(tmp_path / "hidden")

    # WHEN
    ids, answer = listed_ids(SimpleNamespace(logdir=str(chosen)))

    # THEN
    assert ids == [f"good/{STAMP}"]
    assert answer["refused"] == [
        f"{chosen}/above leads out of its run and is not followed.",
        f"{chosen}/good/out leads out of its run and is not followed.",
    ]
    assert [one.path for one in list_sessions(chosen)] == [chosen / "good/plugins/tfdarshan" / STAMP]


def test_a_run_that_is_linked_later_is_shown_after_a_reload(logdir, tmp_path):
    # GIVEN
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    seconds = [0.0]
    store = SessionStore([Logdir(chosen)], lambda: seconds[0])
    assert store.sessions() == []

    # WHEN
    (chosen / "later").symlink_to(logdir / "run")
    seconds[0] = 10.0

    # THEN
    assert [one.id for one in store.sessions()] == [f"later/{STAMP}"]


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\u061c", "\x1b", "\x9b"])
def test_marks_that_change_how_names_read_are_shown_as_escapes(tmp_path, mark):
    # GIVEN files, a command and a host of such names
    job = image_job(50, 2, 3)
    job = dataclasses.replace(job, paths=[path.replace(".jpg", f"{mark}gpj.exe") for path in job.paths])
    write_session(tmp_path / "run", job, stamp=STAMP)
    meta = next(tmp_path.rglob("*.meta.json"))
    named = {"command": f"python a{mark}b.py", "host": f"a{mark}b"}
    meta.write_text(json.dumps(json.loads(meta.read_text()) | named))

    # WHEN
    views = [ask(tmp_path, "/view", session=SESSION, view=view)[1] for view in VIEWS]
    listed = ask(tmp_path, "/verdicts")[1]

    # THEN no text has one, and links lead to the files
    links = {cell["link"][1] for cell in cells_of(views) if cell["link"] and cell["link"][0] == "file"}
    assert mark in "".join(links)
    assert ask(tmp_path, "/file", session=SESSION, path=min(links))[0] == 200
    assert not [text for text in texts_of([views, listed]) if mark in text]


def cells_of(value):
    """Yield all cells in an answer."""
    if isinstance(value, dict) and "link" in value:
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from cells_of(part)


def texts_of(value):
    """Yield all texts of an answer but what the page asks with."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from texts_of(part) if name not in ("link", "id", "ids", "parents") else ()
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)
