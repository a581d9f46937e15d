"""Whose trace a file of TensorFlow's profiler is."""

import fcntl
import os
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfdarshan.native import _bridge
from tfdarshan.recording.tensorflow import tf_trace
from tfdarshan.sessions.session_directory import Marker, make_session_directory, write_marker
from tfdarshan.sessions.traces.xspace import holds_mark

HOST = socket.gethostname()
OWN, OTHER = "tfdarshan 12 170", "tfdarshan 13 170"


@pytest.fixture
def logdir(monkeypatch, tmp_path):
    """A logdir, and a session of TensorFlow's profiler that left the mark OWN."""
    monkeypatch.setattr(_bridge, "last_tensorflow_session", lambda: SimpleNamespace(mark=OWN))
    return tmp_path


def make_trace(logdir, name, *marks):
    path = logdir / tf_trace.PROFILE_FOLDER / "2026_01_01_00_00_00" / f"{name}.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n\0planes " + b"".join(b"\x12tfdarshan mark\x32" + mark.encode() for mark in marks))
    return path


def record(logdir, pid):
    directory = make_session_directory(logdir)
    write_marker(directory, Marker("s", "/nowhere", HOST, pid, 0, "", "", 0, {}, [], {}))


def test_the_trace_with_the_mark_is_taken(logdir):
    # GIVEN another process's trace, which is newer and has the host's name
    own = make_trace(logdir, f"{HOST}.12", OWN)
    make_trace(logdir, HOST, OTHER)

    # WHEN / THEN
    assert tf_trace.written_trace(logdir, {}).path == own


def test_a_trace_of_another_process_is_none_and_said(logdir):
    # GIVEN
    make_trace(logdir, HOST, OTHER)
    notes: list[str] = []
    recording: Any = SimpleNamespace(add_note=notes.append)

    # WHEN
    trace = tf_trace.written_trace(logdir, {})
    tf_trace.put_beside(recording, trace)

    # THEN
    assert notes == [tf_trace.LOST]


def test_a_trace_without_any_mark_is_taken(logdir):
    # GIVEN a trace in which the plug-in found no room
    path = make_trace(logdir, HOST)

    # WHEN / THEN
    assert tf_trace.written_trace(logdir, {}).path == path


def test_a_trace_gets_the_process_s_name_where_others_record(logdir):
    # GIVEN
    make_trace(logdir, HOST, OWN)
    record(logdir, os.getpid() + 1)

    # WHEN
    trace = tf_trace.written_trace(logdir, {})

    # THEN
    assert trace.path.name == f"{HOST}.{os.getpid()}.xplane.pb"
    assert trace.path.exists()


def test_a_trace_that_another_wrote_over_before_it_was_renamed_is_lost(logdir, monkeypatch):
    # GIVEN another process that writes its trace, of the same name, just before ours is renamed
    own, rename = make_trace(logdir, HOST, OWN), Path.rename
    record(logdir, os.getpid() + 1)

    def rename_late(path, target):
        make_trace(logdir, HOST, OTHER)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_late)

    # WHEN
    trace = tf_trace.written_trace(logdir, {})

    # THEN it is not given as ours, and is there for the one whose it is
    assert trace.path is None
    assert not own.exists()
    assert holds_mark(own.with_name(f"{HOST}.{os.getpid()}.xplane.pb"), OTHER)


def test_a_trace_that_another_begins_to_write_is_not_ours(logdir):
    # GIVEN
    make_trace(logdir, HOST).write_bytes(b"")

    # WHEN / THEN
    assert tf_trace.written_trace(logdir, {}).path is None


def test_a_trace_that_another_renames_meanwhile_is_found(logdir, monkeypatch):
    # GIVEN another process that gives our trace its own name once we have listed it
    own = make_trace(logdir, HOST, OWN)
    listed: list[dict[Path, int]] = []

    def list_then_rename(logdir):
        found = {path: path.stat().st_mtime_ns for path in logdir.glob("plugins/profile/*/*.xplane.pb")}
        if not listed:
            own.rename(own.with_name(f"{HOST}.13.xplane.pb"))
        listed.append(found)
        return found

    monkeypatch.setattr(tf_trace, "list_traces", list_then_rename)

    # WHEN / THEN
    assert tf_trace.written_trace(logdir, {}).path.name == f"{HOST}.13.xplane.pb"


def test_a_trace_keeps_its_name_where_nobody_else_records(logdir):
    # GIVEN
    make_trace(logdir, HOST, OWN)
    record(logdir, os.getpid())

    # WHEN / THEN
    assert tf_trace.written_trace(logdir, {}).path.name == f"{HOST}.xplane.pb"


def locked(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def test_a_process_waits_for_the_trace_of_another(tmp_path):
    # GIVEN a process that writes its trace
    writing, order = locked(tmp_path), []

    def write():
        with tf_trace.writing_alone(tmp_path):
            order.append("second")

    second = threading.Thread(target=write)
    second.start()

    # WHEN it is done
    second.join(0.1)
    order.append("first")
    os.close(writing)
    second.join()

    # THEN
    assert order == ["first", "second"]


def test_a_process_that_hangs_while_it_writes_holds_nobody_up(tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(tf_trace, "MOST_WAIT_S", 0.05)
    writing = locked(tmp_path)

    # WHEN
    with tf_trace.writing_alone(tmp_path):
        reached = True

    # THEN
    os.close(writing)
    assert reached


def test_a_logdir_that_cannot_be_locked_is_written_to(tmp_path, monkeypatch):
    # GIVEN a file system that locks nothing, and a folder that is gone
    def refuse(*arguments):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)

    # WHEN / THEN
    for folder in (tmp_path, tmp_path / "gone"):
        with tf_trace.writing_alone(folder):
            pass
