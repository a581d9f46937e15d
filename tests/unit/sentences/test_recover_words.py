"""What is said of recordings that were interrupted: each where it is so, and where it is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.sentences.made_up_spool import MARKER
from tests.unit.sentences.shown import printed
from tfdarshan.errors import SessionActiveError, SessionDataError
from tfdarshan.recording import recover
from tfdarshan.recording.spool import HELD, RecoveringError
from tfdarshan.sessions.session_directory import (
    Marker,
    write_marker,
)

ELSEWHERE = dataclasses.replace(MARKER, host="node7", boot_id="another")
RESTARTED = dataclasses.replace(MARKER, boot_id="another")
CONTAINER = dataclasses.replace(MARKER, pid_namespace="another")


def marked(folder: Path, marker: Marker) -> Path:
    """Return the directory of a session that was begun so, and not finished."""
    directory = folder / "plugins" / "tfdarshan" / marker.session
    directory.mkdir(parents=True)
    write_marker(directory, marker)
    return directory


GONE = {
    "it was recorded on node7: run `tfdarshan recover` there": ELSEWHERE,
    "the machine was restarted since, and its shared memory is lost: delete the session directory": RESTARTED,
    "somebody removed it: delete the session directory": MARKER,
}


@pytest.mark.parametrize("why", GONE)
def test_a_spool_that_is_not_here_says_where_it_went(why, tmp_path):
    directory = marked(tmp_path, GONE[why])

    with pytest.raises(SessionDataError) as raised:
        recover.recover_session(directory, force=True)

    assert str(raised.value) == f"the spool /gone of the session {directory} is not here: {why}."


RUNS = {
    "it was recorded on node7, and whether its process still runs cannot be seen here": ELSEWHERE,
    "it was recorded in another container, and whether its process still runs cannot be seen here": CONTAINER,
}


@pytest.mark.parametrize("why", RUNS)
def test_a_process_that_cannot_be_seen_may_still_run(why, tmp_path):
    directory = marked(tmp_path, RUNS[why])

    with pytest.raises(SessionActiveError) as raised:
        recover.recover_session(directory)

    assert str(raised.value) == (
        f"the session {directory} is not recovered: {why}; when it has ended, add --force."
    )


@pytest.mark.parametrize("marker", [MARKER, RESTARTED])
def test_of_a_process_that_has_ended_this_is_not_said(marker, tmp_path):
    # THEN it is asked for its spool at once, and there is none
    with pytest.raises(SessionDataError, match="is not here: "):
        recover.recover_session(marked(tmp_path, marker))


def test_a_process_of_unknown_start_that_is_gone_does_not_record(tmp_path):
    # GIVEN a spool folder that such a process held
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / HELD).touch()
    gone = dataclasses.replace(MARKER, process_start=0, spool_directory=str(tmp_path / "spool"))

    # WHEN / THEN
    with pytest.raises(SessionDataError, match="is not here: "):
        recover.recover_session(marked(tmp_path, gone))


@contextmanager
def busy(_: Path) -> Iterator[None]:
    """Stand for a lock that another process has."""
    raise RecoveringError("another process is recovering it")
    yield


@pytest.mark.parametrize("by_another", [True, False])
def test_of_two_who_recover_one_says_that_the_other_does(by_another, tmp_path, monkeypatch):
    # GIVEN a recording whose spool is there, and perhaps another process at work on it
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / f"{MARKER.pid}.spool").write_bytes(b"torn")
    directory = marked(tmp_path, dataclasses.replace(MARKER, spool_directory=str(tmp_path / "spool")))
    if by_another:
        monkeypatch.setattr(recover, "recovering", busy)

    # WHEN
    text = printed("recover", str(tmp_path))

    # THEN
    said = f"another process recovers {directory}, or has done so just now"
    assert (said in text) == by_another, text
