"""Jobs that read a database of SQLite."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import KB
from tests.unit.findings.made_up_training import training
from tfdarshan.findings.measurement import measure


def database_job(logdir, *tids):
    """Return what measures threads that read a database of SQLite, which asks for its journal."""
    calls: list[tuple] = [(0.0, 0.1, tids[0], "stat", 1, 0)]
    for n in range(80):
        calls += [(n * 50.0, n * 50.0 + 40, tid, "pread", 0, 4 * KB, 4 * KB * n) for tid in tids]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(80)]
    meta = {"pipelines": {"found": [], "left_out": 0}}
    paths = ["/data/a.db", "/data/a.db-journal"]
    return measure(training(logdir, calls, steps, paths=paths, sizes=[10**9, -1], meta=meta))
