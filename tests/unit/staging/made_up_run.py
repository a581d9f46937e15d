"""A job of two epochs after its start-up, and the advice for it."""

from __future__ import annotations

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.commands import main

FILES = 100
EPOCHS = 2
START_UP_MS = 4000
# 40 steps of 100 ms, which wait 86 ms each for the ten reads of 10 ms that two threads make.
STEPS = [(START_UP_MS + start, START_UP_MS + end, 86) for start, end, _ in epochs_of_steps(40, 100, 86)]


def job_after_start_up(logdir, steps=STEPS):
    """Two epochs over 100 files after 4 s of start-up, each read by two new threads."""
    calls = []
    for number in range(EPOCHS * FILES):
        start_ms, tid = START_UP_MS + number // 2 * 40, 1 + number % 2 + number // FILES * 2
        file = number % FILES
        calls.append((start_ms, start_ms + 1, tid, "open", file, 0))
        calls.append((start_ms + 1, start_ms + 35, tid, "pread", file, 100_000))
    paths = [f"/data/{number:03}" for number in range(FILES)]
    return training(logdir, calls, steps, paths=paths, sizes=[100_000] * FILES, duration_ms=8000)


def advise(capsys, tmp_path, *arguments):
    fast = str(tmp_path / "fast")
    assert main(["advise", "--logdir", str(tmp_path / "logs"), "--fast", fast, *arguments]) == 0
    return capsys.readouterr().out


# Steps that wait 80 ms each, with 10 ms between them.
APART = [(start, end - 10, 80) for start, end, _ in STEPS]
