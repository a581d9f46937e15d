"""Commands that are printed to be run: a folder in them is one word, whatever it is called."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import printed
from tfdarshan.commands import import_log, list_sessions, probe_data, recover, run
from tfdarshan.file_name import shell_word
from tfdarshan.recording.profiler import Profile
from tfdarshan.recording.tensorflow import rebuild
from tfdarshan.sessions.find import _unfinished
from tfdarshan.sessions.session_directory import no_logdir

pytest.importorskip("tensorboard")

from tfdarshan.tensorboard_plugin.routes import _interrupted


@pytest.fixture(params=["it's", "line\nend", os.fsdecode(b"\xff")])
def drive(tmp_path, request):
    folder = tmp_path / "My Drive" / request.param
    folder.mkdir(parents=True)
    return folder


def told(action: Callable[..., object], *given: Any, **more: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        action(*given, **more)
    return out.getvalue()


def made(path: Path) -> Any:
    """Return what importing, recovering and rebuilding tell of a session."""
    return SimpleNamespace(
        path=path, by_another=False, unreadable=(), processes=1, files=1, segments=1, notes=()
    )


def imported(drive: Path, monkeypatch: Any) -> str:
    monkeypatch.setattr("tfdarshan.formats.importing.darshan_log.import_darshan", lambda *_: made(drive))
    return told(import_log.command, argparse.Namespace(log="a.darshan", logdir=drive, json=False))


def rebuilt(drive: Path, monkeypatch: Any) -> str:
    found = SimpleNamespace(missing=(drive,), carrying=(), unreadable=())
    monkeypatch.setattr(rebuild, "find_traces", lambda _: found)
    monkeypatch.setattr(rebuild, "rebuild_session", lambda *_, **__: made(drive))
    return printed("rebuild", "/logs")


def listed(drive: Path, monkeypatch: Any) -> str:
    SESSIONS["one reader"](drive)
    monkeypatch.setattr(list_sessions, "MOST_SEGMENTS", 0)
    return printed("list", str(drive))


def probed(drive: Path, monkeypatch: Any) -> str:
    session = SimpleNamespace(path=drive, overlapping=())
    monkeypatch.setattr("tfdarshan.session.open_session", lambda _: session)
    monkeypatch.setattr(probe_data, "_probe", lambda *_: [])
    monkeypatch.setattr(probe_data, "_keep", lambda *_: None)
    return printed("probe", "--logdir", str(drive))


OFFERED: dict[str, Callable[[Path, Any], str]] = {
    "run": lambda drive, _: told(run.Ending(0, as_json=False)._announce, drive),
    "recover": lambda drive, _: told(recover._print, [made(drive)], nothing=False, logdir=drive),
    "import": imported,
    "rebuild": rebuilt,
    "list": listed,
    "probe": probed,
    "an interrupted session": lambda drive, _: str(_unfinished(Path("/session"), drive)),
    "the tab": lambda drive, _: cast(Any, _interrupted(drive)[0]).code,
    "a joined session": lambda drive, _: Profile.summary(
        cast(Any, SimpleNamespace(path=drive, _elsewhere=True, _shared=None, _nothing=""))
    ),
}


@pytest.mark.parametrize("where", OFFERED)
def test_a_folder_is_one_word_of_the_command(where, drive, monkeypatch):
    assert shell_word(drive) in OFFERED[where](drive, monkeypatch)


def test_a_log_is_one_word_of_the_command(drive):
    log = drive / "a b.darshan"
    log.touch()

    assert f"`tfdarshan import {shell_word(log)} --logdir DIR`" in str(no_logdir(log))
