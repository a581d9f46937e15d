"""What workers on another machine copy of a session that a URL names, and what becomes of it."""

import os
import threading
from pathlib import Path

import pytest

from tests.made_up_session import image_job, write_session
from tfdarshan.errors import SessionDataError
from tfdarshan.sessions import remote_session
from tfdarshan.sessions.remote_session import copied_session
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.session_directory import COPY_FOLDER
from tfdarshan.sessions.worker_copy import WorkerCopy, worker_copy

pytest.importorskip("fsspec")
PLACE = Path("logs/plugins/tfdarshan/2024_01_01_00_00_00")


@pytest.fixture
def session(tmp_path):
    return write_session(tmp_path / "logs", image_job(7, 1, 2)).path


@pytest.fixture
def copy(session, tmp_path):
    """Return a copy that is to be made."""
    return WorkerCopy(f"file://{session}", tmp_path / f"tmp/{COPY_FOLDER}x", PLACE)


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("part", [Path(), PLACE.relative_to("logs")])
def test_it_is_where_tasks_look_for_it(session, tmp_path, part):
    # GIVEN a copy of the session, or of the newest one of its logdir, as it was made here
    with copied_session(f"file://{tmp_path / 'logs' / part}/") as here:
        made = worker_copy(f"file://{tmp_path / 'logs' / part}/", here)
        assert made.folder / made.place == here

    # WHEN
    made.bring()

    # THEN
    assert contents(here) == contents(session)
    made.remove()
    assert not here.exists()


def test_it_is_made_once_and_removed(copy, session, monkeypatch):
    # GIVEN workers of one machine
    made = []
    original = remote_session.copy_folder

    def noted(url, folder):
        made.append(url)
        original(url, folder)

    monkeypatch.setattr("tfdarshan.sessions.worker_copy.copy_folder", noted)
    workers = [threading.Thread(target=copy.bring) for _ in range(8)]

    # WHEN
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    # THEN
    assert made == [f"file://{session}"]
    assert (copy.folder.stat().st_mode & 0o777, SessionData.open(copy.folder / PLACE).problems) == (0o700, [])
    copy.remove()
    assert list(copy.folder.parent.iterdir()) == []
    copy.remove()


def test_the_first_copy_is_left_to_who_made_it(copy, monkeypatch):
    copy.folder.mkdir(parents=True)
    monkeypatch.setattr("tfdarshan.sessions.worker_copy.copy_folder", None)

    copy.bring()
    copy.remove()

    assert copy.folder.is_dir()


def test_what_a_killed_worker_left_is_made_anew(copy, session):
    # GIVEN
    part = copy.folder.with_name(f"{copy.folder.name}.part") / PLACE
    part.mkdir(parents=True)
    (part / "stale.parquet").touch()

    # WHEN
    copy.bring()

    # THEN
    assert contents(copy.folder / PLACE) == contents(session)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_somebody_elses_folder_is_not_taken_for_it(copy):
    # GIVEN
    copy.folder.mkdir(parents=True)
    os.chown(copy.folder, 12345, -1)

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"the worker on .* cannot copy {copy.url} to {copy.folder}"):
        copy.bring()


def test_a_folder_that_cannot_be_made_is_named(copy):
    copy.folder.parent.write_text("a file")

    with pytest.raises(SessionDataError, match=f"cannot copy {copy.url} to {copy.folder}: Not a directory"):
        copy.bring()
