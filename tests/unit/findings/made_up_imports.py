"""Processes that import modules and read data."""

from __future__ import annotations

from tests.made_up_session import job_of

ENV = "/home/me/env"
MODULE = f"{ENV}/lib/python3.12/site-packages/torch/nn.py"
OWN = "/home/me/job/model.py"
PATHS = ["/data/a", MODULE, f"{ENV}/lib/python3.12", OWN, "/home/me/job", "/data", "/data/missing"]
SIZES = [700, 50, -1, 30, -1, -1, -1]


def imports(pid, stats, data_reads=1):
    """A process that imports two modules, asks for folders, and reads its data."""
    calls = [("stat", 1, 0), ("open", 1, 0), ("read", 1, 50), ("open", 3, 0), ("read", 3, 30)]
    calls += [("stat", 2, 0), ("stat", 4, 0)] * stats + [("stat", 5, 0), ("stat", 6, 0)]
    calls += [("open", 0, 0), ("pread", 0, 700)] * data_reads
    rows = [
        (at * 10, at * 10 + 5, pid, name, file, length, 0) for at, (name, file, length) in enumerate(calls)
    ]
    return job_of(rows, PATHS, SIZES, pid=pid, kernel={"rchar": 10_000, "read_bytes": 0})
