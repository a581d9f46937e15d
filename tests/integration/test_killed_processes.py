"""Processes of a job are killed at random moments: what they had done by then is in the session."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.sessions.session_directory import read_marker, walk_sessions

KILLS = 200
SEED = 19
BYTES = 5_000
WAYS = ("fork", "spawn", "forkserver")

# Each process reads one file again and again, and notes each time how often: an account that is not ours.
JOB = """
import multiprocessing, os, sys, tfdarshan
def work(name):
    account = os.open(f"account/{os.getpid()}", os.O_CREAT | os.O_WRONLY)
    times = 0
    while True:
        file = os.open(f"data/{name}", os.O_RDONLY)
        while os.read(file, 1000):
            pass
        os.close(file)
        times += 1
        os.pwrite(account, b"%08d" % times, 0)
if __name__ == "__main__":
    way = sys.argv[1]
    with tfdarshan.profile("logs", exclude=["account/*"]):
        context = multiprocessing.get_context(way)
        workers = [context.Process(target=work, args=(n,), daemon=True) for n in range(1, 4)]
        for worker in workers:
            worker.start()
        print(*(worker.pid for worker in workers), flush=True)
        if sys.stdin.readline() == "work\\n":
            work(0)
"""


def accounts(folder):
    """Return how often each process says that it read its file."""
    found = {}
    for path in folder.iterdir():
        text = path.read_text()
        found[int(path.name)] = int(text) if re.fullmatch(r"\d{8}", text) else 0
    return found


def wait_for_accounts(folder, count):
    deadline = time.monotonic() + 120
    while sum(times > 0 for times in accounts(folder).values()) < count:
        assert time.monotonic() < deadline, accounts(folder)
        time.sleep(0.01)


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def recover():
    """Recover as soon as multiprocessing's helpers, whose job was killed, have ended."""
    deadline = time.monotonic() + 120
    while main(["recover", "logs"]) != 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long
def test_two_hundred_kills_lose_nothing_that_was_recorded(tmp_path, monkeypatch, capsys):
    # GIVEN
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number in range(4):
        (tmp_path / "data" / str(number)).write_bytes(bytes(BYTES))
    (tmp_path / "job.py").write_text(JOB)
    dice = random.Random(SEED)
    killed, turn = 0, 0

    while killed < KILLS:
        folder, way, owner_too = tmp_path / "account", WAYS[turn % 3], turn % 2 == 0
        folder.mkdir()
        turn += 1
        # WHEN some workers are killed while all of them read, and in every other job the owner, too
        job = subprocess.Popen(
            [sys.executable, "job.py", way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        with job:
            workers = [int(pid) for pid in job.stdout.readline().split()]
            wait_for_accounts(folder, 3)
            if owner_too:
                print("work", file=job.stdin, flush=True)
                wait_for_accounts(folder, 4)
            for pid in workers:
                time.sleep(dice.uniform(0, 0.05))
                kill(pid)
            killed += len(workers)
            if owner_too:
                kill(job.pid)
                killed += 1
            else:
                print("end", file=job.stdin, flush=True)
        assert job.returncode == (-signal.SIGKILL if owner_too else 0)
        told = accounts(folder)

        # THEN each process's reads are there: all that it noted, and at most one more
        if owner_too:
            recover()
        session = tfdarshan.open_session(tmp_path / "logs")
        files = session.files[session.files["path"].str.startswith(f"{tmp_path}/data/")]
        for pid, times in told.items():
            (row,) = files[files["pid"] == pid].itertuples()
            assert times <= row.POSIX_OPENS <= times + 1
            assert times * BYTES <= row.POSIX_BYTES_READ <= (times + 1) * BYTES
            assert times * 6 <= row.POSIX_READS <= (times + 1) * 6
        assert session.problems == []
        for path in (*folder.iterdir(), *session.path.iterdir()):
            path.unlink()
        folder.rmdir()
        session.path.rmdir()
    capsys.readouterr()


def test_a_process_that_ended_before_it_began_to_record_is_no_warning(tmp_path):
    # GIVEN two whose spools were made and never begun
    logs = tmp_path / "logs"
    with tfdarshan.profile(logs) as session:
        (directory,) = walk_sessions(logs)
        spools = Path(read_marker(directory).spool_directory)
        (spools / "4000001.spool").write_bytes(bytes(8192))
        (spools / "4000002.spool").touch()

    # THEN
    children = session.meta[0]["children"]
    assert (children["silent"], children["unreadable"]) == (2, [])
    assert "holds nothing" not in session.summary()
