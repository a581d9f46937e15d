"""Jobs of two epochs, the second of which may be quicker."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import KB
from tests.unit.findings.made_up_training import training


def two_epochs(logdir, *, first_ms, later_ms):
    """Return two epochs of 640 files, of which 32 readers read 32 at a time, and the kernel fetched half."""
    at, steps = 0.0, []
    calls: list[tuple] = []
    for epoch in range(2):
        taken = later_ms if epoch else first_ms
        for first in range(0, 640, 32):
            calls += [(at, at + taken, 1 + n, "pread", first + n, 1000 * KB, 0) for n in range(32)]
            steps.append((at, at + taken + 1, taken))
            at += taken + 1
    return training(
        logdir, calls, steps, paths=[f"/data/{n}.bin" for n in range(640)], sizes=[1000 * KB] * 640,
        kernel={"rchar": 1280_000 * KB, "read_bytes": 640_000 * KB},
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34}},
    )  # fmt: skip
