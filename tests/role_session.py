"""A made-up session with a process of each role, of which the lists hide two."""

from __future__ import annotations

from pathlib import Path

from tests.made_up_session import job_of, write_session
from tfdarshan.session import Session

MODULE = "/usr/lib/python3.12/multiprocessing/resource_tracker.py"
# Bytes that each process reads: the main one, two workers, a program, a helper of data and two of modules.
ROLES = [
    ("main", 0, "", 1),
    ("worker", 1, "", 20),
    ("worker", 2, "", 300),
    ("program", 0, "secret.py", 4_000),
    ("helper", 0, "manager", 50_000),
    ("helper", 0, "forkserver", 600_000),
    ("helper", 0, "resource_tracker", 7_000_000),
]
IDLE = ("forkserver", "resource_tracker")


def role_session(logdir: Path) -> Session:
    """Write the session; its processes have the numbers 100, 101 and so on."""
    jobs = []
    for place, (kind, number, name, length) in enumerate(ROLES):
        pid = 100 + place
        role = {"kind": kind, "number": number, "name": name}
        path = MODULE if name in IDLE else "/data/a"
        calls = [(place * 1000, place * 1000 + 500, pid, "pread", 0, length, 0)]
        jobs.append(job_of(calls, [path], [length], pid=pid, duration_ns=10_000, meta={"role": role}))
    return write_session(logdir, *jobs)
