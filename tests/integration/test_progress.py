"""A long stop shows how far it is on a terminal, and nothing where nobody watches."""

import os
import pty
import subprocess
import sys

import pytest

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
    """Gives what was written to it until its last writer closed it."""
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
