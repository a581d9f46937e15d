"""One reader's calls beside the job's own writes show storage that serves one thing at a time."""

from __future__ import annotations

import random

import pytest

from tests.closed_readers import Delay, Queue
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.more_readers import serial_share

PART, PARTS = 128_000, 30


class Reader:
    """Reads one file after the other, and rests between: 0.5 ms on average."""

    def __init__(self, storage, size, files):
        self.storage, self.size, self.files = storage, size, files
        self.noise, self.at, self.calls = random.Random(7), 0.0, []

    def go_on(self, until_ms):
        while self.at <= until_ms:
            end = self.storage.end(self.at, self.size, self.noise)
            self.calls.append((self.at, end, 1, "pread", len(self.calls) % self.files, self.size, 0))
            self.at = end + self.noise.expovariate(2)


def saving(logdir, storage, *, size=100_000, output="/data/out", beside=3, alone=5):
    """Gives a reader, and saves of 30 parts in one write: each 0.4 s beside it, and after it has ended."""
    files = 1_000
    reader, now, saves = Reader(storage, size, files), 0.0, []
    for number in range(beside + alone):
        if number < beside:
            reader.go_on(now + 400)
        now = max(now + 400, reader.at)
        begun = now
        for _ in range(PARTS):
            if number < beside:
                reader.go_on(now)
            now = storage.end(now, PART, reader.noise)
        saves.append((begun, now, LOOP, "write", files, PARTS * PART, 0))
    steps = [(50.0 * n, 50.0 * n + 50, 40) for n in range(int(now // 50))]
    paths = [*(f"/data/{n}" for n in range(files)), output]
    calls = sorted([*reader.calls, *saves])
    return training(logdir, calls, steps, paths=paths, sizes=[size] * files + [-1])


def said(session):
    return {finding.name: finding for finding in diagnose(session).findings}


@pytest.mark.parametrize(
    "storage", [lambda: Queue(0, 8), lambda: Queue(0, 0, 1 / 12_000)], ids=["an arm", "12 MB/s"]
)
def test_storage_that_serves_reads_and_writes_in_turn_is_full(tmp_path, storage):
    session = saving(tmp_path, storage())

    # THEN both go at about half of their pace beside each other
    turns = measure(session).turns
    assert turns.reads == pytest.approx(0.5, abs=0.12)
    assert turns.writes == pytest.approx(0.5, abs=0.12)
    assert serial_share(measure(session)).is_full
    # ... so more readers are no cure, and what shows that is said
    assert "read_parallelism" not in said(session)
    note = said(session)["full_storage"]
    assert note.what.endswith(
        ": what the job reads and what it writes to the same place hold each other up. "
        "More readers give nothing."
    )
    assert (
        f"measured by writes, which go at {100 * turns.writes:.1f} % of their pace beside calls on input, "
        f"and {turns.beside} of these, which go at {100 * turns.reads:.1f} % of theirs"
    ) in note.evidence[-1].text


@pytest.mark.parametrize(
    ("storage", "size"),
    [(Delay(8), 100_000), (Queue(7, 0, 1 / 25_000), 8_000), (Queue(2, 6), 100_000)],
    ids=["waits", "a wait, and a pipe that writes fill and small reads do not", "a wait, and an arm"],
)
def test_storage_that_waits_is_not(tmp_path, storage, size):
    session = saving(tmp_path, storage, size=size)

    assert not serial_share(measure(session)).known
    assert "full_storage" not in said(session)
    assert "read_parallelism" in said(session)


def test_of_a_wait_and_an_arm_no_more_than_the_arms_part_is_served_in_turn(tmp_path):
    # GIVEN 6 of 8 ms that one arm serves: when another call is there, a wait goes on beside it
    turns = measure(saving(tmp_path, Queue(2, 6))).turns

    assert 0.35 < turns.low <= turns.share < 0.75


@pytest.mark.parametrize(
    "changes",
    [{"output": "/out/a"}, {"beside": 1}, {"alone": 2}],
    ids=["to another place", "one write beside", "two alone"],
)
def test_writes_elsewhere_or_too_few_show_nothing(tmp_path, changes):
    assert measure(saving(tmp_path, Queue(0, 8), **changes)).turns is None
