"""Processes are killed while they join and while their owner stops: nothing that was recorded is lost."""

import os
import random
import re
import signal
import subprocess
import time

import pytest

import tfdarshan
from tfdarshan.commands import main

KILLS = 100
BYTES = 100
# A program that opens its file once and then notes that it did, again and again: an account that is not ours.
WORK = """
import os, sys
account = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY)
times = 0
while True:
    with open(sys.argv[1], "rb", buffering=0) as file:
        file.read(1000)
    times += 1
    os.pwrite(account, b"%08d" % times, 0)
"""
JOB = f"""
import os, subprocess, sys, tfdarshan
WORK = {WORK!r}
command = [sys.executable, "-c", WORK]
with tfdarshan.profile("logs", exclude=["account/*"]):
    for line in sys.stdin:
        if line == "stop\\n":
            break
        number = line.strip()
        files = ["data/" + number, "account/" + number]
        started = subprocess.Popen([*command, *files], stdin=subprocess.DEVNULL)
        print(started.pid, flush=True)
    print("stopping", flush=True)
"""

pytestmark = pytest.mark.long


class Job:
    """A job that records, and starts a program for each line that it reads."""

    def __init__(self, python, folder, environment):
        (folder / "data").mkdir()
        (folder / "account").mkdir()
        self.folder, self.pids = folder, {}
        self.process = subprocess.Popen(
            [python, "-c", JOB],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def start(self, number):
        (self.folder / "data" / str(number)).write_bytes(bytes(BYTES))
        self.pids[number] = int(self.say(number))

    def kill(self, number):
        os.kill(self.pids.pop(number), signal.SIGKILL)

    def told(self):
        """Return how often each program says that it opened its file."""
        found = {}
        for path in (self.folder / "account").iterdir():
            text = path.read_text()
            found[int(path.name)] = int(text) if re.fullmatch(r"\d{8}", text) else 0
        return found

    def end(self):
        for number in list(self.pids):
            self.kill(number)
        self.process.kill()
        self.process.communicate()

    def opens(self):
        session = tfdarshan.open_session(self.folder / "logs")
        assert session.problems == []
        files = session.files[session.files["path"].str.startswith(f"{self.folder}/data/")].groupby("path")
        for _, rows in files:
            assert rows["POSIX_BYTES_READ"].sum() >= (rows["POSIX_OPENS"].sum() - 1) * BYTES
        return {int(path.rpartition("/")[2]): int(rows["POSIX_OPENS"].sum()) for path, rows in files}


@pytest.fixture
def job(python, tmp_path, environment):
    job = Job(python, tmp_path, environment)
    yield job
    job.end()


def until(job, numbers):
    deadline = time.monotonic() + 120
    while not all(job.told().get(number, 0) for number in numbers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def recover(logdir):
    """Recover as soon as the processes have ended that were killed."""
    deadline = time.monotonic() + 120
    while main(["recover", str(logdir)]) != 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_programs_that_are_killed_while_they_join(job):
    # WHEN each is killed a moment after its start: before, while or after it joins
    dice = random.Random(19)
    for number in range(KILLS):
        job.start(number)
        time.sleep(dice.uniform(0, 0.15))
        job.kill(number)
    told = job.told()
    assert job.say("stop") == "stopping"

    # THEN the session is whole, and what each noted is there, and at most one more
    assert job.process.wait(timeout=300) == 0
    opens = job.opens()
    assert 0 < len(told) < KILLS
    for number in range(KILLS):
        assert told.get(number, 0) <= opens.get(number, 0) <= told.get(number, 0) + 1


@pytest.mark.parametrize("round_number", range(15))
def test_an_owner_that_is_killed_while_it_stops(job, round_number, capsys):
    # GIVEN programs that go on
    numbers = range(3)
    for number in numbers:
        job.start(number)
    until(job, numbers)
    told = job.told()

    # WHEN the owner is told to stop, and is killed a moment later; then they are
    assert job.say("stop") == "stopping"
    time.sleep(random.Random(round_number).uniform(0, 0.6))
    job.process.kill()
    job.process.wait()
    for number in numbers:
        job.kill(number)

    # THEN what they had noted before is there, whoever writes it
    recover(job.folder / "logs")
    capsys.readouterr()
    opens = job.opens()
    assert all(opens[number] >= told[number] > 0 for number in numbers), (opens, told)
