"""A long stop shows how far it is on a terminal, and nothing where nobody watches."""

import os
import pty
import re
import subprocess
import sys

import pytest

import tfdarshan

JOB = """
import os, tfdarshan, tfdarshan.recording.writing.writer
tfdarshan.recording.writing.writer.LONG_WORK_S = 0.0
with tfdarshan.profile("logs") as session:
    handle = os.open("data.bin", os.O_CREAT | os.O_WRONLY)
    for _ in range(3):
        os.write(handle, bytes(10))
    os.close(handle)
rows = session.meta[0]["tables"]
print(rows["files"]["rows"], rows["events"]["rows"], len(session.events))
"""


def read_terminal(handle):
    """Return what was written to it until its last writer closed it."""
    shown = b""
    while True:
        try:
            shown += (more := os.read(handle, 4096))
        except OSError:  # how Linux says that no writer is left
            more = b""
        if not more:
            return shown.decode()


@pytest.fixture
def terminal():
    own, theirs = pty.openpty()
    yield own, theirs
    os.close(own)


def run_job(folder, stderr):
    return subprocess.run(
        [sys.executable, "-c", JOB],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True, check=True,
    )  # fmt: skip


def test_stop_shows_a_bar_on_a_terminal_and_clears_it(tmp_path, terminal):
    own, theirs = terminal

    # WHEN a job's stderr is a terminal, and its stop counts as long
    files, segments, _ = map(int, run_job(tmp_path, theirs).stdout.split())
    os.close(theirs)

    # THEN the bar's total is the rows of both tables
    shown = read_terminal(own)
    assert "tfdarshan: writing process" in shown
    assert f"{files:,}/{files + segments:,}" in shown
    assert shown.endswith("\r")
    assert not shown.split("\r")[-2].strip()
    assert "\n" not in shown


def test_stop_is_silent_in_a_pipe(tmp_path):
    ran = run_job(tmp_path, subprocess.PIPE)
    assert ran.stderr == ""
    assert ran.stdout


EXPORT = """
import sys
import tfdarshan.commands.export, tfdarshan.terminal.progress
from tfdarshan.commands import main
tfdarshan.commands.export.LONG_WORK_S = tfdarshan.terminal.progress._REDRAW_EVERY_S = 0.0
sys.exit(main(["export", *sys.argv[1:]]))
"""


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Return a logdir whose session has rows of files and of calls."""
    folder = tmp_path_factory.mktemp("job")
    run_job(folder, subprocess.PIPE)
    return folder / "logs"


def run_export(logdir, kind, out, stderr):
    return subprocess.run(
        [sys.executable, "-c", EXPORT, f"--{kind}", out, logdir],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True, check=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("parquet", lambda files, calls: files + calls),
        ("csv", lambda files, calls: files + calls),
        ("trace", lambda files, calls: calls),
        ("darshan", lambda files, calls: 2 * files + 3 * calls),
    ],
)
def test_export_shows_on_a_terminal_how_far_it_is(tmp_path, terminal, logdir, kind, counted):
    own, theirs = terminal
    process = tfdarshan.open_session(logdir).processes[0]

    # WHEN a session is exported, and that counts as long
    run_export(logdir, kind, tmp_path / "out", theirs)
    os.close(theirs)

    # THEN the bar knows the rows from the first on, comes to their end, and is cleared
    shown = read_terminal(own)
    total = counted(process.rows("files"), process.rows("events"))
    assert {*re.findall(r"/(\d+) \[", shown)} == {str(total)}
    assert f"| {total}/{total} [" in shown
    assert "exporting, rows" in shown
    assert not shown.split("\r")[-2].strip()


def test_export_is_silent_in_a_pipe(tmp_path, logdir):
    ran = run_export(logdir, "parquet", tmp_path / "out", subprocess.PIPE)
    assert ran.stderr == ""
    assert ran.stdout.startswith("wrote ")
