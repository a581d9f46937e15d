"""The tab's list of sessions: verdicts that are kept, the worst first, and bounded work for each request."""

import ast
import gc
import json
import os
import re
import shutil
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("tensorboard")

from werkzeug.test import Client

from tests.joint_training import MadeUpRank, joint_training
from tests.made_up_session import image_job, write_session
from tests.unit.findings.made_up_training import training
from tfdarshan.commands import main
from tfdarshan.sessions import session_data
from tfdarshan.sessions.rank_folder import rank_folder
from tfdarshan.tensorboard_plugin import session_list
from tfdarshan.tensorboard_plugin.logdirs import Logdir
from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin
from tfdarshan.tensorboard_plugin.session_store import SessionStore
from tfdarshan.units import started_at

SECOND_NS = 1_000_000_000


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def asker(logdir, **flags):
    apps = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir), **flags)).get_plugin_apps()

    def ask(route="/verdicts", **arguments):
        response = Client(apps[route]).get(route, query_string=arguments)
        assert response.status_code == 200
        return json.loads(response.data)

    return ask


def waiting(folder, wait_ms, *, at_s=0, steps=20):
    """A session whose steps of 10 ms wait so long for reads of one thread."""
    calls = [(10 * n, 10 * n + wait_ms, 7, "pread", 0, 100_000, 0) for n in range(steps)]
    session = training(
        folder, calls, [(10 * n, 10 * n + 10, wait_ms) for n in range(steps)], sizes=[100_000 * steps]
    )
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    for row in meta["steps"]["rows"]:
        row[1:3] = [moment + at_s * SECOND_NS for moment in row[1:3]]
    path.write_text(json.dumps(meta | {"origin_realtime_ns": (1_700_000_000 + at_s) * SECOND_NS}))
    return session


@pytest.fixture
def logdir(tmp_path):
    """Three runs one after the other; the second waits most, the first not at all."""
    for place, (name, wait_ms) in enumerate([("fine", 0), ("worst", 8), ("bad", 4)]):
        waiting(tmp_path / "logs" / name, wait_ms, at_s=100 * place)
    return tmp_path / "logs"


def rows(answer):
    return [row for group in answer["groups"] for row in group]


def looked(ask):
    """Ask until all are looked at."""
    answer = ask(look="1")
    while answer["left"]:
        answer = ask(look="1")
    return answer


@pytest.mark.parametrize("folder", ["run", os.fsdecode(b"caf\xe9")])
def test_a_session_whose_name_is_not_utf8_is_shown(tmp_path, folder):
    # GIVEN two logdirs with a run whose name is latin-1, as is one of the logdirs' own
    runs = [tmp_path / one / os.fsdecode(b"caf\xe9") for one in ("logs", folder)]
    for run in runs:
        write_session(run, image_job(4, 1, 1))
    flags = SimpleNamespace(logdir_spec=",".join(str(run.parent) for run in runs))
    ask = asker("", flags=flags)

    # WHEN the page sends back the names that it got
    ids = [found["id"] for found in ask("/sessions")["sessions"]]
    shown = [ask("/view", session=found, view="overview")["panels"] for found in ids]

    # THEN
    assert len(ids) == len(set(ids)) == len(shown) == 2
    assert all("caf\\xe9/" in found for found in ids)


def test_a_session_that_is_read_in_part_says_so(logdir, tmp_path):
    # GIVEN a rank whose table is still being copied
    ranks = [MadeUpRank([[2 * step + rank] for step in range(40)]) for rank in range(2)]
    session = joint_training(tmp_path / "logs" / "joint", ranks)
    (path,) = rank_folder(session.path, 1).glob("*.files.parquet")
    whole = path.read_bytes()
    path.unlink()

    # WHEN, and once it is there
    in_part = looked(asker(logdir))
    path.write_bytes(whole)
    later = looked(asker(logdir))

    # THEN
    said = [
        [row["why"] for row in rows(answer) if row["why"].startswith("read in part: ")]
        for answer in (in_part, later)
    ]
    assert [len(one) for one in said] == [1, 0]


def test_how_to_record_is_code_whatever_the_logdir_is_called(tmp_path):
    logdir = tmp_path / 'it\'s "mine" \\n'
    logdir.mkdir()

    (profiled,) = re.findall(r"profile\((.*)\):", asker(logdir)("/sessions")["how_to"])

    assert ast.literal_eval(profiled) == str(logdir)


def test_nothing_is_looked_at_unasked(logdir, monkeypatch):
    monkeypatch.setattr(session_list, "diagnose", None)

    answer = asker(logdir)()

    assert answer["left"] == 3
    assert {row["why"] for row in rows(answer)} == {"not looked at yet"}


def test_verdicts_are_those_of_the_list_and_in_its_order(logdir, capsys):
    # WHEN
    answer = looked(asker(logdir))

    # THEN
    assert main(["list", "--all", "--json", str(logdir)]) == 0
    listed = json.loads(capsys.readouterr().out)["sessions"]
    assert [row["id"].split("/")[0] for row in rows(answer)] == ["worst", "bad", "fine"]
    assert [row["id"].split("/")[0] for row in rows(answer)] == [one["run"] for one in listed]
    for row, one in zip(rows(answer), listed, strict=True):
        assert row["gain"] == (f"{one['verdict']['speedup']:.2f}x" if one["verdict"]["speedup"] else "-")
        assert row["waits"] == f"{100 * one['verdict']['wait_share']:.1f} %"
        assert row["slow"] == (one["verdict"]["state"] == "slow")
        assert row["lasted"] == "200.0 ms"
        assert row["when"] == one["started"] == started_at(one["start_ns"])
    # and what `tfdarshan list` says of them
    assert main(["list", str(logdir)]) == 0
    said = capsys.readouterr().out
    assert all(row["why"][:20] in said for row in rows(answer))


def test_kept_verdicts_are_read_and_none_is_worked_out_again(logdir, monkeypatch):
    first = looked(asker(logdir))

    monkeypatch.setattr(session_list, "diagnose", None)
    monkeypatch.setattr(session_data.SessionData, "__init__", None)

    assert asker(logdir)(look="1") == first


def test_a_request_looks_for_a_bounded_time(logdir, monkeypatch):
    ask = asker(logdir)
    monkeypatch.setattr(session_list, "LOOK_S", 0)

    assert [ask(look="1")["left"] for _ in range(4)] == [2, 1, 0, 0]


def test_large_sessions_wait_until_somebody_opens_them(logdir, monkeypatch):
    # GIVEN
    monkeypatch.setattr(session_list, "MOST_SEGMENTS", 5)
    ask = asker(logdir)
    answer = ask(look="1")
    assert (answer["left"], answer["too_large"]) == (3, 3)

    # WHEN one is opened
    worst = next(row["id"] for row in rows(answer) if row["id"].startswith("worst/"))
    ask("/findings", session=worst)

    # THEN its verdict is in the list, and on top
    answer = ask()
    assert (answer["left"], rows(answer)[0]["id"]) == (2, worst)
    assert rows(answer)[0]["slow"]


def test_sessions_at_the_same_time_are_together(logdir):
    waiting(logdir / "beside", 2, at_s=100)

    answer = looked(asker(logdir))

    assert [{row["id"].split("/")[0] for row in group} for group in answer["groups"]] == [
        {"worst", "beside"},
        {"bad"},
        {"fine"},
    ]


def test_sessions_that_are_not_complete_say_so(logdir):
    killed = logdir / "killed" / "plugins" / "tfdarshan" / "2024_01_01_00_00_00"
    killed.mkdir(parents=True)
    (killed / "recording.json").write_text("{}")

    answer = asker(logdir)()

    (row,) = (row for row in rows(answer) if row["id"].startswith("killed/"))
    assert (row["state"], row["lasted"]) == ("interrupted", "-")
    assert f"`tfdarshan recover {logdir / 'killed'}`" in row["why"]
    assert answer["left"] == 3


def test_a_session_that_cannot_be_read_is_no_end_of_the_list(logdir):
    for table in (logdir / "worst").rglob("*.parquet"):
        table.write_bytes(b"PAR1")

    answer = looked(asker(logdir))

    assert [row["id"].split("/")[0] for row in rows(answer)] == ["bad", "worst", "fine"]
    assert "cannot be read" in rows(answer)[1]["why"]


def test_links_out_of_the_logdir_are_not_listed(logdir, tmp_path):
    outside = waiting(tmp_path / "outside", 8)
    (logdir / "link" / "plugins" / "tfdarshan").mkdir(parents=True)
    (logdir / "link" / "plugins" / "tfdarshan" / "s").symlink_to(outside.path)

    assert len(rows(asker(logdir)())) == 3


def test_a_cache_that_cannot_be_written_is_done_without(logdir, cache):
    cache.write_text("a file")

    assert len(rows(asker(logdir)(look="1"))) == 3


def test_the_tab_opens_the_session_that_began_last(logdir):
    # GIVEN the newest session, whose name is from another time zone
    (newest,) = (logdir / "bad" / "plugins" / "tfdarshan").iterdir()
    newest.rename(newest.with_name("1999_01_01_00_00_00"))

    listed = SessionStore([Logdir(logdir)]).sessions()

    assert [session.run for session in listed] == ["bad", "worst", "fine"]


def test_a_thousand_sessions_are_listed_without_their_tables(tmp_path, monkeypatch):
    # GIVEN
    one = write_session(tmp_path / "logs" / "0", image_job(5, 1, 1))
    for number in range(1, 1_000):
        folder = tmp_path / "logs" / str(number % 10) / "plugins" / "tfdarshan" / f"2024_02_01_{number:06}"
        folder.mkdir(parents=True)
        for file in one.path.glob("*.meta.json"):
            shutil.copy(file, folder)
    monkeypatch.setattr(session_list, "MOST_SEGMENTS", 0)

    # AND a collector that has nothing of other tests to look at
    gc.collect()
    gc.freeze()

    # WHEN the picker asks for what is there, and for verdicts
    ask = asker(tmp_path / "logs")
    began_s = time.process_time()
    first = ask()
    took_s = time.process_time() - began_s
    answer = ask(look="1")
    began_s = time.process_time()
    found = [json.loads(path.read_bytes()) for path in tmp_path.rglob("*.meta.json")]
    floor_s = time.process_time() - began_s
    gc.unfreeze()

    # THEN no table is there to be read, and all are listed, for about what reading the metadata takes
    assert len(rows(answer)) == len(rows(first)) == len(found) == 1_000 == answer["left"]
    assert took_s < 5 * floor_s
