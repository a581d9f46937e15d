"""Jobs whose epochs begin with filling a shuffle buffer."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import KB
from tests.unit.findings.made_up_training import training
from tests.unit.findings.told import told
from tfdarshan.findings import shuffle_buffer

SHUFFLE = {"name": "shuffle", "size": 320}


def buffer_job(logdir, *stages, fill_ms=800.0, epochs=3, steps=20):
    """Return a session whose epochs begin with reading everything, and then compute 30 ms a step."""
    at, calls, made = 0.0, [], []
    for _ in range(epochs):
        calls += [
            (at + 5 * n, at + 5 * n + 4.9, 1, "pread", n % 40, 100 * KB, n // 40 * 100 * KB)
            for n in range(int(fill_ms // 5))
        ]
        for step in range(steps):
            wait = fill_ms if step == 0 else 0.2
            made.append((at, at + wait + 30, wait))
            at += wait + 30
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": epochs}
    return training(
        logdir,
        calls,
        made,
        paths=[f"/data/{n}" for n in range(40)],
        sizes=[max(1, int(fill_ms // 200)) * 100 * KB] * 40,
        meta={"pipelines": {"found": [one], "left_out": 0}},
    )


def found_buffer(session):
    return told(session, shuffle_buffer)
