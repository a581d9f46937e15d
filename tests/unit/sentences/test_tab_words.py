"""What the tab says where it has no view to show: each where it is so, and where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("tensorboard")

from werkzeug.test import Client

from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.errors import SessionDataError
from tfdarshan.tensorboard_plugin import routes
from tfdarshan.tensorboard_plugin.live import SoFar
from tfdarshan.tensorboard_plugin.loader import BrokenPlugin, TfdarshanLoader
from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin
from tfdarshan.units import human_bytes, human_seconds


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """Return a logdir of one session."""
    SESSIONS["one call"](tmp_path)
    return tmp_path


def asked(logdir: Path, route: str, **arguments: str) -> tuple[int, dict[str, Any]]:
    """Return a route's code and answer."""
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=str(logdir)))
    response = Client(plugin.get_plugin_apps()[route]).get(route, query_string=arguments)
    return response.status_code, json.loads(response.data)


HINTS = {
    "The page's link may be wrong; open the tab again.": (400, {"view": "no-such"}),
    "The session may have been removed; reload the list of sessions.": (404, {"session": "gone"}),
    "Other sessions can still be looked at.": (422, {}),
    "Please report this with what the server printed.": (500, {}),
}


@pytest.mark.parametrize("hint", HINTS)
def test_an_error_hints_at_what_can_be_done_about_it(hint, logdir, monkeypatch):
    # GIVEN a session that is there, gone, damaged, or that something nobody thought of is wrong with
    code, arguments = HINTS[hint]
    session = asked(logdir, "/sessions")[1]["sessions"][0]["id"]
    errors = {422: SessionDataError("its table is torn."), 500: ZeroDivisionError()}

    def source(*_: object) -> None:
        raise errors[code]

    if code in errors:
        monkeypatch.setattr(routes.SessionStore, "source", source)

    # WHEN
    found, answer = asked(logdir, "/view", **({"session": session} | arguments))

    # THEN
    assert (found, answer["error"]["hint"]) == (code, hint)


def test_a_view_that_can_be_shown_hints_at_nothing(logdir):
    session = asked(logdir, "/sessions")[1]["sessions"][0]["id"]

    code, answer = asked(logdir, "/view", session=session)

    assert (code, answer["state"]) == (200, "complete")
    said = json.dumps(answer)
    assert [hint for hint in HINTS if hint in said] == []
    assert "recording now" not in said
    assert "ended without writing it" not in said


SIZE = 3_000_000
READ = SoFar(SIZE, duration_s=12.0, calls=1, files=2, io_s=0.5)


@pytest.mark.parametrize("so_far", [READ, SoFar(SIZE)])
def test_a_session_that_is_recording_says_what_it_has(so_far, monkeypatch):
    monkeypatch.setattr(routes, "recorded_so_far", lambda _: so_far)

    (panel,) = routes._recording(Path("/logs/a"))

    assert panel.lines == [
        f"This session is recording now; its recording takes {human_bytes(SIZE)} so far.",
        *(
            [f"So far 1 call on 2 files, {human_seconds(0.5)} in I/O, in {human_seconds(12)}."]
            if so_far is READ
            else []
        ),
        "This page asks again every few seconds.",
    ]


def test_a_session_that_was_interrupted_says_how_to_read_it():
    (panel,) = routes._interrupted(Path("/logs/a"))

    assert (panel.lines, panel.code) == (
        [
            "The process that recorded this session ended without writing it. What it recorded can be read:",
        ],
        "tfdarshan recover /logs/a",
    )


@pytest.mark.parametrize("broken", [True, False])
def test_a_tab_that_cannot_be_loaded_says_why(broken, logdir, monkeypatch):
    def fails(*_: object) -> None:
        raise ImportError("no module named pyarrow")

    if broken:
        monkeypatch.setattr("tfdarshan.tensorboard_plugin.plugin.TfdarshanPlugin", fails)

    plugin = TfdarshanLoader().load(SimpleNamespace(logdir=str(logdir)))

    assert isinstance(plugin, BrokenPlugin) == broken
    script = Client(plugin.get_plugin_apps()["/index.js"]).get("/index.js").get_data(as_text=True)
    words = (
        "The I/O tab cannot be shown: ImportError: no module named pyarrow Reinstall with: pip install "
        "--force-reinstall tfdarshan"
    )
    assert (f"document.body.textContent = {json.dumps(words)};" in script) == broken


def test_a_tab_without_the_packages_that_read_sessions_names_the_command(logdir, monkeypatch):
    # GIVEN an installation that can only record
    monkeypatch.setattr("tfdarshan.native.package_versions.has_view", lambda: False)

    # WHEN
    plugin = TfdarshanLoader().load(SimpleNamespace(logdir=str(logdir)))

    # THEN
    script = Client(plugin.get_plugin_apps()["/index.js"]).get("/index.js").get_data(as_text=True)
    assert (
        'document.body.textContent = "The I/O tab cannot be shown: reading sessions needs pandas: '
        "run `pip install 'tfdarshan[view]'`.\";"
    ) in script
