"""Jobs that read files whole, some of them slowly."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import KB
from tests.unit.findings.made_up_training import training

QUICK_MS, SLOW_MS = 2.0, 60.0


def steps_until(end_ms):
    return [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(end_ms // 50))]


def read_whole(logdir, taken_ms, *, files=400, readers=1):
    """Return a session of files read whole, one read each; `taken_ms(file, at)` is what it takes."""
    free, calls = [0.0] * readers, []
    for file in range(files):
        reader = min(range(readers), key=free.__getitem__)
        at = free[reader]
        middle = at + 0.1
        free[reader] = middle + taken_ms(file, at)
        calls += [
            (at, middle, reader + 1, "open", file, 0),
            (middle, free[reader], reader + 1, "read", file, 100 * KB),
        ]
    paths = [f"/data/{file:04}" for file in range(files)]
    return training(logdir, calls, steps_until(max(free)), paths=paths, sizes=[100 * KB] * files)


def slow_shards(logdir, taken_ms):
    """Return a session of ten shards that one reader reads in order, 200 reads each."""
    at = 0.0
    calls: list[tuple] = []
    for shard in range(10):
        calls.append((at, at + 0.1, 1, "open", shard, 0))
        at += 0.1
        for part in range(200):
            end = at + taken_ms(shard, at)
            calls.append((at, end, 1, "read", shard, 256 * KB, part * 256 * KB))
            at = end
    paths = [f"/data/shard-{shard}" for shard in range(10)]
    return training(logdir, calls, steps_until(at), paths=paths, sizes=[200 * 256 * KB] * 10)
