"""What a loop has written is synced by a thread, once for many calls, and before the program ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tfdarshan.checkpoint import behind, sync_behind
from tfdarshan.errors import ConfigurationError

# Longer than any test takes: then only the end syncs.
LONG_S = 3600.0
ROOM_S = 60.0


class Synced(Counter[int]):
    """How often each inode was synced, and whether one was."""

    def __init__(self) -> None:
        super().__init__()
        self.made = threading.Event()


@pytest.fixture
def synced(monkeypatch):
    """Count syncs by inode, and tell when one was made; what is due afterwards is synced."""
    counted, real = Synced(), os.fsync

    def fsync(descriptor):
        real(descriptor)
        counted[os.fstat(descriptor).st_ino] += 1
        counted.made.set()

    monkeypatch.setattr(behind, "_SYNCS", behind._Syncs())
    monkeypatch.setattr(os, "fsync", fsync)
    yield counted
    behind._SYNCS.finish()


def test_many_calls_are_one_sync(tmp_path, synced):
    # GIVEN a file that a loop asks to sync a thousand times, and closes
    with open(tmp_path / "log", "w") as file:
        for step in range(1_000):
            file.write(f"{step}\\n")
            file.flush()
            sync_behind(file, every_s=LONG_S)
    inode = (tmp_path / "log").stat().st_ino
    assert synced[inode] == 0

    # WHEN the program ends
    behind._SYNCS.finish()

    # THEN
    assert synced[inode] == 1


def test_a_thread_syncs_what_is_due_though_nobody_asks_again(tmp_path, synced):
    with open(tmp_path / "log", "wb") as file:
        sync_behind(file.fileno(), every_s=0.001)

        assert synced.made.wait(ROOM_S)

    assert synced[(tmp_path / "log").stat().st_ino] == 1


def test_each_file_is_synced_and_none_stays_open(tmp_path, synced):
    before = len(os.listdir("/proc/self/fd"))
    for number in range(3):
        with open(tmp_path / str(number), "wb") as file:
            sync_behind(file, every_s=LONG_S)
            sync_behind(file, every_s=LONG_S)
    assert len(os.listdir("/proc/self/fd")) == before + 3

    behind._SYNCS.finish()

    assert sorted(synced.values()) == [1, 1, 1]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_loop_that_writes_more_files_than_are_synced_waits_for_the_oldest(tmp_path, synced):
    before = len(os.listdir("/proc/self/fd"))
    for number in range(behind.MOST_FILES + 10):
        with open(tmp_path / str(number), "wb") as file:
            sync_behind(file, every_s=LONG_S)

    assert len(os.listdir("/proc/self/fd")) == before + behind.MOST_FILES
    assert [synced[(tmp_path / str(number)).stat().st_ino] for number in range(11)] == [1] * 10 + [0]


def test_what_is_asked_for_while_the_program_ends_is_synced_at_once(tmp_path, synced):
    with open(tmp_path / "log", "wb") as file:
        sync_behind(file, every_s=LONG_S)
        behind._SYNCS.end()
        sync_behind(file, every_s=LONG_S)
        assert synced[(tmp_path / "log").stat().st_ino] == 2


def test_without_a_further_thread_the_caller_syncs(tmp_path, synced, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with open(tmp_path / "log", "wb") as file:
        sync_behind(file, every_s=LONG_S)
        assert synced[(tmp_path / "log").stat().st_ino] == 1


def ask_for_ever(file):
    while True:
        sync_behind(file, every_s=0.001)


def test_a_descriptor_that_cannot_be_closed_leaves_the_thread_at_work(tmp_path, synced, monkeypatch):
    # GIVEN a close that says, as NFS does, that what was written is lost
    real = os.close

    def close(descriptor):
        monkeypatch.setattr(os, "close", real)
        real(descriptor)
        raise OSError(122, "Disk quota exceeded")

    with open(tmp_path / "log", "wb") as file:
        monkeypatch.setattr(os, "close", close)
        sync_behind(file, every_s=0.001)
        with pytest.raises(OSError, match="Disk quota"):
            ask_for_ever(file)
        synced.made.clear()
        sync_behind(file, every_s=0.001)
        assert synced.made.wait(ROOM_S)


def test_a_sync_that_fails_is_raised_by_the_next_call(tmp_path, synced, monkeypatch):
    def fails(descriptor):
        synced.made.set()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with open(tmp_path / "log", "wb") as file:
        sync_behind(file, every_s=0.001)
        assert synced.made.wait(ROOM_S)

        with pytest.raises(OSError, match="Input/output error"):
            behind._SYNCS.finish()

        # THEN once
        behind._SYNCS.finish()


def test_the_wait_is_above_zero(tmp_path):
    with open(tmp_path / "log", "wb") as file, pytest.raises(ConfigurationError, match="above 0"):
        sync_behind(file, every_s=0)


def test_a_program_that_ends_has_synced_and_its_child_has_not(tmp_path):
    # GIVEN a program that asks, forks, and ends at once; its child ends first
    text = """
import os, sys
from tfdarshan.checkpoint import sync_behind
real = os.fsync
os.fsync = lambda fd: (real(fd), print(os.getpid() == main, flush=True))
main = os.getpid()
with open(sys.argv[1], "w") as file:
    file.write("a line")
    file.flush()
    sync_behind(file, every_s=3600)
child = os.fork()
if not child:
    sys.exit(0)
os.waitpid(child, 0)
"""

    done = subprocess.run(
        # A newer Python warns of any fork beside a thread.
        [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", text, tmp_path / "log"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert done.stdout.split() == ["True"]
    assert done.stderr == ""
