"""Jobs whose maps read, decode or draw random numbers."""

from __future__ import annotations

from tests.scenario_sessions import KB
from tests.unit.findings.made_up_jobs import LOAD
from tests.unit.findings.made_up_training import training

STEPS, WAIT_MS, COMPUTE_MS, FILES = 100, 20, 30, 25
BUSY_S, ONE_S = 19.0, 4.5
SAME, DRAWS = {"random": False}, {"random": True}
BOTH = LOAD | {"does": ["reads", "decodes"], "function": "load"}
SMALL, LARGE = {"element_bytes": 10 * KB}, {"element_bytes": 1 << 30}


def maps_job(logdir, *stages, batch_bytes=None, cpu_s=BUSY_S, size=500 * KB):
    """Return steps that wait 20 ms and compute for 30; a reader, 1 of 10 ms in a call, works meanwhile.

    It keeps its 4 processors busy, or one of them. Each of 25 files is read four times, in parts.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for step in range(STEPS):
        end = at + WAIT_MS + COMPUTE_MS
        steps.append((at, end, WAIT_MS))
        calls += [
            (at + n, at + n + 1, 1, "pread", step % FILES, size / 5, n // 10 * size // 5)
            for n in range(0, WAIT_MS + COMPUTE_MS, 10)
        ]
        at = end
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 4}
    one |= {"batch_bytes": batch_bytes} if batch_bytes else {}
    return training(
        logdir, calls, steps, paths=[f"/data/{n}" for n in range(FILES)], sizes=[size] * FILES,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s},
              "pipelines": {"found": [one], "left_out": 0}},
    )  # fmt: skip
