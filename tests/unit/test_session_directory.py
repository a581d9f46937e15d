import errno
import json
import os
import time
from pathlib import Path

import pytest

from tests.made_up_session import job_of, write_job
from tfdarshan.errors import ConfigurationError, SessionDataError, StorageError
from tfdarshan.session import find_sessions, open_session
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.sessions.find import locate_session
from tfdarshan.sessions.rank_folder import logdir_of, rank_folder
from tfdarshan.sessions.session_directory import (
    checked_logdir,
    discard_session_directory,
    make_session_directory,
    read_marker,
    walk_sessions,
)

CLOCK = time.strptime("2024-02-03 04:05:06", "%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize("url", ["gs://bucket/logs", "s3://b", "hdfs://x/y", "file:///tmp/x"])
def test_remote_logdir_is_refused(url):
    with pytest.raises(ConfigurationError, match="is remote and tfdarshan writes local files only"):
        checked_logdir(url)


@pytest.mark.parametrize("logdir", [None, 3, "", b""])
def test_logdir_that_is_no_path_is_refused(logdir):
    with pytest.raises(ConfigurationError, match="logdir must be a path"):
        checked_logdir(logdir)


def test_session_directory_has_tensorflows_stamp_and_is_unique(tmp_path):
    # WHEN
    names = [make_session_directory(tmp_path, CLOCK).name for _ in range(3)]

    # THEN
    assert names == ["2024_02_03_04_05_06", "2024_02_03_04_05_06_2", "2024_02_03_04_05_06_3"]
    assert [path.name for path in walk_sessions(tmp_path)] == names


def test_logdir_that_is_a_file_is_refused(tmp_path):
    # GIVEN
    (tmp_path / "logs").write_text("x")

    # WHEN / THEN
    with pytest.raises(StorageError, match=r"cannot be written: .*; choose a folder you can write to"):
        make_session_directory(tmp_path / "logs", CLOCK)


def test_logdir_that_cannot_be_made_is_refused():
    with pytest.raises(StorageError, match="logdir /proc/tfdarshan cannot be written"):
        make_session_directory(checked_logdir("/proc/tfdarshan"), CLOCK)


def test_sessions_are_listed_in_the_order_they_began(tmp_path):
    # GIVEN sessions written in another order than they began, as recover does
    begun = [make_session_directory(tmp_path, CLOCK) for _ in range(11)]
    begun.append(make_session_directory(tmp_path, time.strptime("2024-02-03 04:05:07", "%Y-%m-%d %H:%M:%S")))
    for directory in reversed(begun):
        (directory / "host.1.meta.json").write_text("{}")

    # WHEN / THEN
    assert find_sessions(tmp_path) == begun


def test_the_newest_session_began_last_whatever_its_name_says(tmp_path):
    # GIVEN sessions of a clock that was set back, and one whose ranks began apart
    names = ["2024_02_03_12_00_00", "2024_02_03_04_00_00", "job-7", "2024_02_03_04_00_00_2"]
    for began_s, name in enumerate(names, 1):
        folder = tmp_path / "plugins" / "tfdarshan" / name
        parts = [folder / "rank-00001", folder / "rank-00000"] if name == "job-7" else [folder]
        for later_s, part in enumerate(parts):
            part.mkdir(parents=True)
            owner = {"owner": True, "host": "h", "pid": 1, "duration_ns": 1}
            meta = owner | {"origin_realtime_ns": (began_s + 10 * later_s) * 10**9}
            (part / "h.1.meta.json").write_text(json.dumps(meta))

    # WHEN / THEN
    assert [path.name for path in find_sessions(tmp_path)] == names
    assert locate_session(tmp_path).name == names[-1]


@pytest.fixture
def closed(monkeypatch):
    """Folders, to be filled, that are somebody else's: they cannot be listed, nor what is in them seen."""
    folders: set[Path] = set()

    def refusing(call, *, itself):
        def refuse(path, *arguments, **named):
            if isinstance(path, (str, Path)):
                through = [*Path(path).parents, *([Path(path)] if itself else [])]
                if folders.intersection(through):
                    raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return call(path, *arguments, **named)

        return refuse

    monkeypatch.setattr(os, "stat", refusing(os.stat, itself=False))
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, itself=True))
    return folders


def test_sessions_of_somebody_else_are_passed_over(closed, tmp_path):
    # GIVEN another user's newer session, and another user's run
    own = make_session_directory(tmp_path, CLOCK)
    (own / "host.1.meta.json").write_text("{}")
    others = make_session_directory(tmp_path, name="2030_01_01_00_00_00")
    closed |= {others, make_session_directory(tmp_path / "run", CLOCK).parent}

    # WHEN / THEN
    assert find_sessions(tmp_path) == [own]
    assert locate_session(tmp_path) == own
    assert [one.path for one in list_sessions(tmp_path)] == [own, others]


def test_a_logdir_with_sessions_of_somebody_else_alone_is_said_to_be_so(closed, tmp_path):
    # GIVEN
    sessions = make_session_directory(tmp_path, CLOCK).parent
    closed.add(sessions)

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"the logdir {sessions} cannot be read: Permission denied"):
        find_sessions(tmp_path)


def test_discarding_leaves_nothing_of_ours_and_everything_else(tmp_path):
    # GIVEN
    (tmp_path / "keep").write_text("x")
    directory = make_session_directory(tmp_path, CLOCK)

    # WHEN
    discard_session_directory(directory)

    # THEN
    assert [path.name for path in tmp_path.iterdir()] == ["keep"]


def test_walk_finds_runs_below_and_skips_other_plugins(tmp_path):
    # GIVEN
    first = make_session_directory(tmp_path / "run1", CLOCK)
    (tmp_path / "run2" / "plugins" / "profile" / "plugins" / "tfdarshan" / "trap").mkdir(parents=True)

    # WHEN / THEN
    assert list(walk_sessions(tmp_path)) == [first]


def test_a_session_knows_its_logdir_however_it_is_named(monkeypatch, tmp_path):
    # GIVEN
    session = make_session_directory(tmp_path, CLOCK)
    rank = rank_folder(session, 3)
    rank.mkdir()

    # WHEN / THEN
    for place, name in ((session.parent, session.name), (session, "."), (rank, "."), (rank, "..")):
        monkeypatch.chdir(place)
        assert logdir_of(Path(name)) == tmp_path
    assert logdir_of(Path("/copy")) == Path("/")


def test_a_link_to_a_session_leads_to_its_logdir(tmp_path):
    # GIVEN links to a session and to a rank's part of it, and a session that a logdir has as a link
    session = make_session_directory(tmp_path / "logs", CLOCK)
    rank_folder(session, 0).mkdir()
    linked = make_session_directory(tmp_path / "other").with_name("linked")
    for link, target in ((tmp_path / "latest", session), (tmp_path / "r0", rank_folder(session, 0))):
        link.symlink_to(target)
    linked.symlink_to(session)

    # WHEN / THEN
    for named in (session, tmp_path / "latest", tmp_path / "latest" / "rank-00000", tmp_path / "r0"):
        assert logdir_of(named) == tmp_path / "logs"
    assert logdir_of(linked) == logdir_of(linked / "rank-00000") == tmp_path / "other"


def test_a_session_with_a_trace_is_read_from_within_its_folder(monkeypatch, tmp_path):
    # GIVEN a session beside which there was a trace of TensorFlow's profiler
    session = make_session_directory(tmp_path, CLOCK)
    trace = {"trace": "plugins/profile/gone/host.xplane.pb", "start_ns": 0}
    write_job(session, job_of([(0, 10, 1, "read", 0, 5)], ["/data/a"], [5], meta={"tensorflow": trace}))
    monkeypatch.chdir(session)

    # WHEN / THEN
    assert len(open_session(".").steps) == 0


def test_logdir_without_sessions_is_said(tmp_path):
    with pytest.raises(SessionDataError, match="there is no session in"):
        open_session(tmp_path)
    with pytest.raises(SessionDataError, match="there is no logdir"):
        find_sessions(tmp_path / "nowhere")


def test_damaged_marker_is_said(tmp_path):
    # GIVEN
    (tmp_path / "recording.json").write_text('{"session": "x"')

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=r"recording\.json is damaged"):
        read_marker(tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("notes.txt", r"give the folder that tfdarshan.profile\(\) or `tfdarshan run --logdir` wrote to"),
        ("job.darshan", "make a session of it with `tfdarshan import .*job.darshan --logdir DIR`"),
        ("session/host.1.files.parquet", "give the session it is in, .*session"),
    ],
)
def test_a_file_is_no_logdir(tmp_path, name, hint):
    # GIVEN a file, one of a session among them
    path = tmp_path / name
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / "host.1.meta.json").touch()
    path.touch()

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=f"is a file, not a logdir: {hint}"):
        find_sessions(path)
