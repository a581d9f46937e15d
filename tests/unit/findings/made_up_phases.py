"""A job of quiet phases and of crowded ones."""

from __future__ import annotations

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.random_calls import PATHS


def phases_job(logdir):
    """Return a job of phases in which few read, of writes and syncs, and of a file read out of order."""
    calls, at = [], 0.0
    for phase in range(12):
        readers = 2 if phase % 3 == 0 else 8
        for number in range(160):
            reader = number % readers
            start = at + number // readers * 5.2 + reader * 0.3
            calls.append(
                (start, start + 5, reader + 1, "pread", number % 5, 1 << 20, (number * 37 % 997) << 22)
            )
        at += 160 // readers * 5.2 + 10
        calls += [(at - 8, at - 7, LOOP, "write", 5, 1 << 21, 0), (at - 7, at - 6.5, LOOP, "fsync", 5, 0, 0)]
    steps = [(n * 50.0, n * 50.0 + 50, 30.0) for n in range(int(at // 50))]
    return training(logdir, calls, steps, paths=PATHS, sizes=[1 << 30] * len(PATHS), duration_ms=at)
